"""What each provider's events mean, as a table for people."""

from collections.abc import Iterator, Mapping

from payments.callback import Kind
from payments.providers.field_map import Meaning
from payments.providers.hmac_provider import HmacProvider
from payments.providers.port import Provider
from payments.providers.static_token import StaticToken


def events_table(provider: Provider) -> str:
    """A row for each event and what it means; nothing if the account's settings say it."""
    meanings = provider.facts.meanings
    if isinstance(provider, HmacProvider | StaticToken):
        meanings = provider.events.meanings
    if not meanings:
        return ""
    rows = [cells(event, said) for name in meanings for event, said in _lines(name, meanings[name])]
    return "\n".join(["| event | means |", "| --- | --- |", *rows])


def _lines(name: str, meaning: Meaning) -> Iterator[tuple[str, str]]:
    """One line for each kind; the states that mean the same stand together."""
    if isinstance(meaning, Kind):
        yield f"`{name}`", f"{meaning}"
    elif isinstance(meaning, Mapping):
        for kind in dict.fromkeys(meaning.values()):
            if kind is not Kind.IGNORED:
                states = [f"`{state}`" for state, told in meaning.items() if state and told is kind]
                yield " ".join([f"`{name}`", ", ".join(states)]).strip(), f"{kind}"
    else:
        yield f"`{name}`", (meaning.__doc__ or "").strip()


def cells(*contents: str) -> str:
    """A row of a table."""
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in contents)} |"
