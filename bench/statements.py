"""The statements of one callback, taken from the database's own log, as a script for pgbench.

The script is derived anew at each start from what the service really sends, so the two cannot
drift apart. Only what differs from callback to callback is replaced: the number in the ids of
order, transaction and event, the keys of the rows, and random UUIDs.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from bench.servers import LOG_PREFIX

_NUMBER: Final = re.compile(r"\bB([0-9]{9})\b")
_RECORD: Final = re.compile(
    rf"^{LOG_PREFIX}(?P<process>\d+) LOG:  (?:statement|execute [^:]*): (?P<text>.*?)"
    rf"(?:^{LOG_PREFIX}(?P=process) DETAIL:  Parameters: (?P<parameters>.*?))?"
    rf"(?=^{LOG_PREFIX}|\Z)",
    re.DOTALL | re.MULTILINE,
)
_PARAMETER: Final = re.compile(r"(?P<name>\$\d+) = (?P<value>NULL|'(?:[^']|'')*')")
_LITERAL: Final = re.compile(r"(?P<text>'(?:[^']|'')*')(?P<cast>::)?")
# psycopg writes UUIDs without hyphens, the server's log with them.
_UUID: Final = re.compile(r"'[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}'(?:::uuid)?")
# pgbench puts in what it knows; what it does not know it takes for a parameter, if it prepares.
_SUBSTITUTED_BY_CHANCE: Final = re.compile(
    r":(?:n|i|first|clients|client_id|scale|random_seed|default_seed|order_\w+|txn_\w+)\b"
)
_LOOKS_LIKE_A_VARIABLE: Final = re.compile(r":(?=[A-Za-z_])")
#: Whose row's id is needed by later statements, and under which name pgbench keeps it.
_KEPT: Final = (("FROM orders_order", "order_"), ("INTO payments_providertransaction", "txn_"))


class NotDerivable(RuntimeError):
    """The statements have a form that this module does not know; teach it."""


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The keys of the rows that the observed callback read and wrote."""

    order_id: int
    transaction_id: int


def of_one_callback(log: str) -> list[str] | None:
    """Everything that one callback sent, from its account's lookup to COMMIT.

    None if the log does not hold a whole callback that is not the first of its connection: the
    first also sets the connection up.
    """
    by_process: dict[str, list[str]] = {}
    for record in _RECORD.finditer(log):
        text = record["text"].replace("\n\t", "\n").strip()
        if record["parameters"]:
            text = _bound(text, record["parameters"].replace("\n\t", "\n"))
        by_process.setdefault(record["process"], []).append(text)
    for sent in by_process.values():
        ends = [place for place, text in enumerate(sent) if text == "COMMIT"]
        if len(ends) > 1:
            return sent[ends[-2] + 1 : ends[-1] + 1]
    return None


def _bound(text: str, parameters: str) -> str:
    """The statement with its separate values in their places, as the simple protocol sends it."""
    values = {each["name"]: each["value"] for each in _PARAMETER.finditer(parameters)}
    return re.sub(r"\$\d+", lambda name: values[name[0]], text)


def number_in(statements: Iterable[str]) -> int:
    """The number of the order that they pay. Raises NotDerivable."""
    found = {number for text in statements for number in _NUMBER.findall(text)}
    if len(found) != 1:
        raise NotDerivable(f"one order was expected in the statements, not {sorted(found)}")
    return int(found.pop())


def script(statements: Sequence[str], rows: Rows, *, parameters: bool) -> str:
    """The statements as a script in which `:i` is the number and `:n` counts per client.

    With `parameters` the variables stand outside of literals, as `--protocol=prepared` needs
    them; otherwise the text that reaches the server is the service's own. Raises NotDerivable.
    """
    number = str(number_in(statements))
    lines = [r"\set n :n + 1", r"\set i :first + :n * :clients + :client_id"]
    for text in statements:
        derived = _without_ids(text, rows)
        if _SUBSTITUTED_BY_CHANCE.search(
            "".join(each["text"] for each in _LITERAL.finditer(derived))
        ):
            raise NotDerivable(f"pgbench would take a part of this for a variable: {text}")
        derived = _with_variable(derived, number, parameters=parameters)
        name = next((name for part, name in _KEPT if part in text), None)
        lines.append(f"{derived}\n\\gset {name}" if name else f"{derived};")
    if not all(f"\\gset {name}" in "\n".join(lines) for _, name in _KEPT):
        raise NotDerivable("the order's lookup or the ledger's insert is missing")
    return "\n".join(lines) + "\n"


def _without_ids(text: str, rows: Rows) -> str:
    text = _UUID.sub("gen_random_uuid()", text)
    for key, name in ((rows.order_id, "order_id"), (rows.transaction_id, "txn_id")):
        text = re.sub(rf"(?<![\w.-])'?{key}'?(?![\w.-])", f":{name}", text)
    return text


def _with_variable(text: str, number: str, *, parameters: bool) -> str:
    if not parameters:
        return text.replace(number, ":i")
    return _LITERAL.sub(lambda literal: _concatenated(literal, number), text)


def _concatenated(literal: re.Match[str], number: str) -> str:
    text, cast = literal["text"], literal["cast"] or ""
    if number not in text and not _LOOKS_LIKE_A_VARIABLE.search(text):
        return literal[0]
    pieces = [_LOOKS_LIKE_A_VARIABLE.sub(":' || '", part) for part in text[1:-1].split(number)]
    parts = " || :i || ".join(f"'{piece}'" for piece in pieces)
    # The column would turn a literal into an array, but not the sum of several.
    is_bare_array = text.startswith("'{") and not cast
    return f"({parts}){'::varchar[]' if is_bare_array else cast}"
