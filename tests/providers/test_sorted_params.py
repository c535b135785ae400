"""Forms as bytes, and the text that is signed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.providers.sorted_params import (
    FIELDS_MAX,
    NotParams,
    ascii_required,
    ascii_text,
    parse_form,
    to_sign,
)


def test_a_form_is_decoded_once() -> None:
    body = b"sign=a%2Bb%2Fc%3D%3D&note=1+%2B+1&again=%2541&semi=a;b=c&empty="
    assert parse_form(body) == {
        b"sign": b"a+b/c==",
        b"note": b"1 + 1",
        b"again": b"%41",
        b"semi": b"a;b=c",
        b"empty": b"",
    }


def test_bytes_of_any_charset_and_line_breaks_survive() -> None:
    form = parse_form(b"subject=%B4%F3%C0%D6%CD%B8&cert=A%0D%0AB&nul=%00")
    assert form == {b"subject": "大乐透".encode("gbk"), b"cert": b"A\r\nB", b"nul": b"\0"}


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"a=1&a=2", "a field occurs more than once"),
        (b"a=1&%61=1", "a field occurs more than once"),
        (b"a=%zz", "a percent sign that begins no escape"),
        (b"a=%4", "a percent sign that begins no escape"),
        (b"%=1", "a percent sign that begins no escape"),
        (b"a", "a field without a name or without a value"),
        (b"=1", "a field without a name or without a value"),
        (b"a=1&", "a field without a name or without a value"),
        (b"", "a field without a name or without a value"),
    ],
)
def test_what_two_readers_could_read_differently_is_refused(body: bytes, why: str) -> None:
    with pytest.raises(NotParams, match=why):
        parse_form(body)


def test_the_number_of_fields_is_bounded() -> None:
    fields = [b"f%d=1" % number for number in range(FIELDS_MAX + 1)]
    assert len(parse_form(b"&".join(fields[:-1]))) == FIELDS_MAX
    with pytest.raises(NotParams, match="more than 128 fields"):
        parse_form(b"&".join(fields))


def test_names_are_sorted_as_bytes() -> None:
    fields = {b"b": b"1", b"a_": b"2", b"aB": b"3", b"a": b"4", b"Z": b"5", b"\xe6": b"6"}
    assert to_sign(fields, without=()) == b"Z=5&a=4&aB=3&a_=2&b=1&\xe6=6"


def test_the_signature_is_left_out_and_empty_fields_where_the_provider_says_so() -> None:
    fields = {b"a": b"", b"b": b"0", b"sign": b"x", b"sign_type": b"RSA2"}
    assert to_sign(fields, without=(b"sign", b"sign_type")) == b"a=&b=0"
    assert (
        to_sign(fields, without=(b"sign",), drop_empty=True, suffix=b"&key=k")
        == b"b=0&sign_type=RSA2&key=k"
    )


def test_a_field_that_is_read_is_ascii() -> None:
    fields = {b"no": b"O-1", b"empty": b"", b"name": "大".encode("gbk")}
    assert (ascii_text(fields, "no"), ascii_text(fields, "empty")) == ("O-1", None)
    with pytest.raises(NotParams, match="name is not ASCII"):
        ascii_text(fields, "name")
    with pytest.raises(NotParams, match="nothing is missing"):
        ascii_required(fields, "nothing")


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(body: bytes) -> None:
    try:
        fields = parse_form(body)
    except NotParams:
        return
    assert to_sign(fields, without=())
