from decimal import Decimal
from typing import Any

import pytest

from orders.strict_json import (
    DEPTH_MAX,
    NESTED_MAX,
    StrictJsonError,
    at,
    boolean,
    identifier,
    loads_strict,
    mapping,
    parse,
    required,
    text,
)

REFUSED = {
    "byte order mark": (b"\xef\xbb\xbf{}", "begins with a byte order mark"),
    "UTF-16": ("{}".encode("utf-16"), "not UTF-8 at byte 0"),
    "UTF-16 without mark": ("{}".encode("utf-16-le"), "not JSON: "),
    "not UTF-8": (b'{"a":"\xff"}', "not UTF-8 at byte 6"),
    "surrogate bytes": (b'"\xed\xa0\x80"', "not UTF-8 at byte 1"),
    "overlong": (b'"\xc0\xaf"', "not UTF-8 at byte 1"),
    "NaN": (b'{"a":NaN}', "NaN is not JSON"),
    "Infinity": (b"[Infinity]", "Infinity is not JSON"),
    "minus Infinity": (b"[-Infinity]", "-Infinity is not JSON"),
    "long integer": (b"9" * 5000, "a number is too long"),
    "long fraction": (b"0." + b"1" * 5000, "a number is too long"),
    "exponent": (b"1E99999999999999999999", "a number's exponent is out of range"),
    "leading zero": (b"007", "not JSON: Extra data at character 1"),
    "control character": (b'"a\nb"', "not JSON: Invalid control character at at character 2"),
    "empty": (b"", "not JSON: Expecting value at character 0"),
    "trailing": (b"{} x", "not JSON: Extra data at character 3"),
    "single quotes": (b"{'a':1}", "not JSON: "),
    "comment": (b"{} // x", "not JSON: Extra data"),
    "underscore": (b"1_000", "not JSON: Extra data"),
    "full-width digits": ("\uff11".encode(), "not JSON: Expecting value at character 0"),
}


@pytest.mark.parametrize(("body", "why"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_not_plain_json_is_refused_by_both_readings(body: bytes, why: str) -> None:
    for read in (parse, loads_strict):
        with pytest.raises(StrictJsonError) as caught:
            read(body)
        assert str(caught.value).startswith(why)


def nested(depth: int) -> bytes:
    return b"[" * depth + b"]" * depth


def test_nesting_is_allowed_to_the_limit_and_not_beyond() -> None:
    parse(nested(DEPTH_MAX))
    for depth in (DEPTH_MAX + 1, NESTED_MAX):
        with pytest.raises(StrictJsonError, match="nested deeper than 64 levels"):
            parse(nested(depth))


def test_many_brackets_side_by_side_or_inside_text_are_not_depth() -> None:
    assert len(parse(b"[" + b",".join([b"[]"] * 1000) + b"]")) == 1000
    assert parse(b'["' + b"[" * 1000 + b'\\"{{"]') == ["[" * 1000 + '"{{']


@pytest.mark.parametrize("item", [b"{}", b"[]", b'{"a":1}'])
def test_so_many_objects_that_reading_them_takes_seconds_are_refused(item: bytes) -> None:
    def listed(number: int) -> bytes:
        return b"[" + b",".join([item] * number) + b"]"

    assert len(parse(listed(NESTED_MAX - 1))) == NESTED_MAX - 1
    with pytest.raises(StrictJsonError, match="more than 30000 objects and lists"):
        parse(listed(NESTED_MAX))


def test_an_unterminated_text_of_many_quotes_is_refused_in_linear_time() -> None:
    with pytest.raises(StrictJsonError):
        parse(b"[" * 65 + b'"' + b'\\"' * 120_000)


def test_many_names_with_one_repeated_are_read_in_linear_time() -> None:
    names = ",".join(f'"k{number}":1' for number in range(20_000))
    assert parse(f'{{{names},"k0":2}}'.encode()).ambiguous == {"k0"}


def test_numbers_are_exact() -> None:
    assert parse(b"[19.99, 1.10, 1e2, 90071992547409931]") == [
        Decimal("19.99"),
        Decimal("1.10"),
        Decimal("1E+2"),
        90071992547409931,
    ]
    assert str(parse(b"1.10")) == "1.10"


DUPLICATES = {
    "top": b'{"amount":100,"amount":9900}',
    "same value": b'{"amount":1,"amount":1}',
    "escaped spelling": b'{"amount":1,"\\u0061mount":2}',
    "nested": b'{"a":{"b":[{"c":1,"c":2}]}}',
    "objects": b'{"data":{},"data":{}}',
}


@pytest.mark.parametrize("body", DUPLICATES.values(), ids=DUPLICATES.keys())
def test_our_own_api_refuses_a_repeated_name_anywhere(body: bytes) -> None:
    with pytest.raises(StrictJsonError, match="occurs more than once"):
        loads_strict(body)


def test_a_repeated_name_is_an_error_only_where_it_is_read() -> None:
    document = parse(b'{"id":"e","data":{"amount":1,"amount":100},"unused":{"a":1,"a":2}}')
    assert text(document, "id") == "e"
    assert at(document, "unused", "b") is None
    for path in (("data", "amount"), ("unused", "a")):
        with pytest.raises(StrictJsonError, match=f"^{'.'.join(path)} occurs more than once$"):
            at(document, *path)


def test_nothing_is_read_through_a_repeated_object() -> None:
    document = parse(b'{"data":{"amount":1},"data":{"amount":100}}')
    with pytest.raises(StrictJsonError, match=r"^data occurs more than once$"):
        at(document, "data", "amount")


def test_absent_and_null_are_none_on_the_whole_path() -> None:
    document = parse(b'{"a":null,"list":[{"id":1}]}')
    assert at(document, "a", "b", "c") is None
    assert at(document, "nowhere", "b") is None
    assert at(document, "list", "1", "id") is None
    assert at(document, "list", "0", "id") == 1


def test_a_path_into_what_is_no_object_is_an_error() -> None:
    document = parse(b'{"a":"text","list":[1]}')
    for path, why in (
        (("a", "b"), "a is not an object"),
        (("list", "x"), "list is not an object"),
        (("list", "-1"), "list is not an object"),
        (("list", "00"), "list is not an object"),
    ):
        with pytest.raises(StrictJsonError, match=f"^{why}$"):
            at(document, *path)
    with pytest.raises(StrictJsonError, match=r"^the document is not an object$"):
        at(parse(b'"x"'), "id")


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        (b"90071992547409931", "90071992547409931"),
        (b'"90071992547409931"', "90071992547409931"),
        (b"90071992547409932", "90071992547409932"),
        (b"123456789012345678901234567890", "123456789012345678901234567890"),
        (b'"007"', "007"),
        (b"7", "7"),
        (b'""', None),
        (b"null", None),
    ],
)
def test_an_id_is_canonical_text(written: bytes, canonical: str | None) -> None:
    assert identifier(parse(b'{"id":' + written + b"}"), "id") == canonical


@pytest.mark.parametrize("written", [b"1E+5", b"1.0", b"true", b"{}", b"[]"])
def test_what_is_not_an_id_is_refused(written: bytes) -> None:
    with pytest.raises(StrictJsonError, match=r"^id is not an id$"):
        identifier(parse(b'{"id":' + written + b"}"), "id")


@pytest.mark.parametrize("written", [b'"A\\u0000B"', b'"\\ud800"', b'"\\udc00 x"'])
def test_nul_and_lone_surrogates_are_refused_where_they_are_read(written: bytes) -> None:
    document = parse(b'{"id":"e","note":' + written + b"}")
    assert text(document, "id") == "e"
    for read in (text, identifier):
        with pytest.raises(StrictJsonError, match=r"^note contains NUL or half a character$"):
            read(document, "note")


def test_the_six_characters_of_an_escape_and_a_surrogate_pair_are_harmless() -> None:
    document = parse(b'{"note":"\\\\u0000","face":"\\ud83d\\ude00"}')
    assert text(document, "note") == "\\u0000"
    assert text(document, "face") == "\U0001f600"


WRONG_TYPES: list[tuple[Any, bytes, str]] = [
    (text, b"1", "is not text"),
    (mapping, b"[]", "is not an object"),
    (mapping, b'"{}"', "is not an object"),
    (boolean, b"1", "is neither true nor false"),
    (boolean, b'"true"', "is neither true nor false"),
]


@pytest.mark.parametrize(("read", "written", "why"), WRONG_TYPES)
def test_a_value_of_another_type_is_refused(read: Any, written: bytes, why: str) -> None:
    with pytest.raises(StrictJsonError, match=f"^a.b {why}$"):
        read(parse(b'{"a":{"b":' + written + b"}}"), "a", "b")


def test_values_of_their_type_are_returned() -> None:
    document = parse(b'{"b":false,"t":"","o":{"x":1},"n":null}')
    assert boolean(document, "b") is False
    assert text(document, "t") == ""
    assert mapping(document, "o") == {"x": 1}
    assert [read(document, "n") for read in (text, identifier, mapping, boolean)] == [None] * 4


def test_a_required_value_must_be_there() -> None:
    assert required(0, "a") == 0
    with pytest.raises(StrictJsonError, match=r"^a.b is missing$"):
        required(None, "a", "b")


def test_an_error_never_repeats_content() -> None:
    secret = "4111111111111111"
    for body in (f'{{"{secret}":1,}}', f'["{secret}"'):
        with pytest.raises(StrictJsonError) as caught:
            parse(body.encode())
        assert secret not in str(caught.value)
