import json
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from idempotency.digest import NoCanonicalForm, Path, meaning_of
from orders.strict_json import loads_strict


def digest(text: str, *, optional: tuple[Path, ...] = (), irrelevant: tuple[Path, ...] = ()) -> str:
    return meaning_of(
        method="POST",
        path="/v1/orders",
        body=loads_strict(text.encode()),
        optional=optional,
        irrelevant=irrelevant,
    ).hex()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": 1, "b": 2}', '{"b":2,\n\t"a":1}'),
        ('{"a": 100}', '{"a": 100.0}'),
        ('{"a": 100}', '{"a": 1e2}'),
        ('{"a": 100}', '{"a": 1.00E+2}'),
        ('{"a": 0}', '{"a": -0}'),
        ('{"a": 0}', '{"a": -0.0e5}'),
        ('{"a": 0.5}', '{"a": 5e-1}'),
        ('{"a": 0.50}', '{"a": 0.5}'),
        ('{"a": 9007199254740993}', '{"a": 9007199254740993.0}'),
        ('{"a": 1e30}', '{"a": 1000000000000000000000000000000}'),
        ('{"a": "\\u00e9\\/"}', '{"a": "\u00e9/"}'),
        ('{"n": {"o": null}}', '{"n": {}}'),
        ('{"l": [{"o": null}]}', '{"l": [{}]}'),
        ('{"trace": 1, "a": 1}', '{"a": 1}'),
    ],
)
def test_two_spellings_of_one_meaning_have_one_digest(one: str, other: str) -> None:
    optional = (("n", "o"), ("l", "o"))
    irrelevant = (("trace",),)

    left = digest(one, optional=optional, irrelevant=irrelevant)

    assert left == digest(other, optional=optional, irrelevant=irrelevant)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('{"a": 100}', '{"a": 101}'),
        ('{"a": 100}', '{"a": -100}'),
        ('{"a": 100}', '{"a": "100"}'),
        ('{"a": 1}', '{"a": true}'),
        ('{"a": 0}', '{"a": null}'),
        ('{"a": null}', "{}"),
        ('{"a": [1, 2]}', '{"a": [2, 1]}'),
        ('{"a": ["1"]}', '{"a": "1"}'),
        ('{"a": "x"}', '{"a": "X"}'),
        ('{"a": "\u00e9"}', '{"a": "e\u0301"}'),
        ('{"a": 9007199254740993}', '{"a": 9007199254740992}'),
        ('{"a": 9007199254740993}', '{"a": null}'),
        ('{"a": 0.1}', '{"a": 0.1000000000000000055}'),
        ('{"a": 1e400}', '{"a": 1e401}'),
        ('{"a": 0.5, "b": null}', '{"a": null, "b": 0.5}'),
        ('{"a/b": 0.5}', '{"a": {"b": 0.5}}'),
        ("{}", "[]"),
        ("[]", "null"),
    ],
)
def test_two_meanings_have_two_digests(one: str, other: str) -> None:
    assert digest(one) != digest(other)


def test_the_call_and_where_it_goes_are_part_of_the_meaning() -> None:
    calls: list[dict[str, Any]] = [
        {"method": "POST", "path": "/a"},
        {"method": "PUT", "path": "/a"},
        {"method": "POST", "path": "/b"},
        {"method": "POST", "path": "/a", "arguments": {"order_no": "1"}},
        {"method": "POST", "path": "/a", "arguments": {"order_no": "2"}},
    ]

    assert len({meaning_of(**call, body={}) for call in calls}) == len(calls)


def test_the_digest_of_a_request_stays_what_it_is_from_release_to_release() -> None:
    text = '{"order_no": "A-1001", "amount": {"amount_minor": 1099, "currency": "EUR"}}'

    assert digest(text) == DIGEST_OF_A_FIRST_RELEASE


DIGEST_OF_A_FIRST_RELEASE = "ab243a010e28b4a4feba2dfc2563c9b97de8d3d41488106fdb241f66585ea439"


@pytest.mark.parametrize("text", ['{"a": "\\ud800"}', '{"\\udfff": 1}'])
def test_half_a_character_has_no_canonical_form(text: str) -> None:
    with pytest.raises(NoCanonicalForm):
        digest(text)


def test_what_is_not_read_json_is_a_programming_error() -> None:
    with pytest.raises(TypeError):
        meaning_of(method="POST", path="/", body={"a": 0.1})


_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
_WHOLE = st.integers(-(10**20), 10**20)
_DECIMALS = st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), places=3)
_DOCUMENTS = st.recursive(
    st.none() | st.booleans() | _TEXT | _WHOLE | _DECIMALS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_TEXT, inner, max_size=4),
    max_leaves=12,
)


Draw = Callable[[st.SearchStrategy[Any]], Any]


def _spelt(value: Any, draw: Draw) -> str:
    """The value as JSON, spelt in one of many ways."""
    space: str = draw(st.sampled_from(["", " ", "\n\t"]))
    match value:
        case dict():
            members = [
                f"{json.dumps(name, ensure_ascii=draw(st.booleans()))}{space}:{_spelt(inner, draw)}"
                for name, inner in draw(st.permutations(list(value.items())))
            ]
            return "{" + space + f",{space}".join(members) + "}"
        case list():
            return "[" + f"{space},".join(_spelt(inner, draw) for inner in value) + space + "]"
        case bool() | None | str():
            return json.dumps(value, ensure_ascii=draw(st.booleans()))
        case _:
            number = Decimal(value)
            zeros: int = draw(st.integers(0, 3))
            if draw(st.booleans()):
                return f"{number.scaleb(-zeros):f}e{zeros}"
            plain = f"{number:f}"
            return plain + ("" if "." in plain else ".0") + "0" * zeros


def _plain(value: Any) -> Any:
    """The value with numbers that Python compares as the digest should."""
    match value:
        case dict():
            return {name: _plain(inner) for name, inner in value.items()}
        case list():
            return [_plain(inner) for inner in value]
        case bool():
            return ("bool", value)
        case int() | Decimal():
            return ("number", Decimal(value))
        case _:
            return value


@given(_DOCUMENTS, st.data())
def test_however_it_is_spelt_the_digest_is_the_same(document: Any, data: Any) -> None:
    assert digest(_spelt(document, data.draw)) == digest(_spelt(document, data.draw))


@given(_DOCUMENTS, _DOCUMENTS)
def test_documents_differ_exactly_if_their_digests_do(one: Any, other: Any) -> None:
    digests = [meaning_of(method="POST", path="/", body=body) for body in (one, other)]

    assert (digests[0] == digests[1]) == (_plain(one) == _plain(other))
