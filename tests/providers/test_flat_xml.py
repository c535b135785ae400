"""XML that does harm elsewhere: read here without a fetch, without a blow-up, without a doubt."""

import socket
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from payments.providers.flat_xml import NotFlatXml, parse_flat_xml
from payments.providers.port import Reason, Rejected
from tests.providers import rsa_senders


@pytest.fixture
def canary() -> Iterator[socket.socket]:
    """A listener that nobody should connect to."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.setblocking(False)
        yield listener


def test_text_character_data_and_references_are_values() -> None:
    body = '<?xml version="1.0" encoding="UTF-8"?>\n<xml>\n<a><![CDATA[x<&>]]></a>'
    body += "<b>1 &amp; 2&#x33;</b>\n<c/><d>支付</d></xml>\n"
    assert parse_flat_xml(body.encode(), root="xml") == {
        b"a": b"x<&>",
        b"b": b"1 & 23",
        b"c": b"",
        b"d": "支付".encode(),
    }


def test_the_declared_encoding_has_no_say() -> None:
    body = '<?xml version="1.0" encoding="GBK"?><xml><a>支付</a></xml>'
    assert parse_flat_xml(body.encode(), root="xml") == {b"a": "支付".encode()}
    with pytest.raises(NotFlatXml, match="not UTF-8"):
        parse_flat_xml(body.encode("gbk"), root="xml")


LAUGHS = "".join(
    f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "ha">' for n in range(10)
)
#: {port} is a listener's.
HOSTILE = {
    "doctype": "<!DOCTYPE xml><xml><a>1</a></xml>",
    "external entity": (
        '<!DOCTYPE xml [<!ENTITY e SYSTEM "http://127.0.0.1:{port}/">]><xml><a>&e;</a></xml>'
    ),
    "file entity": '<!DOCTYPE xml [<!ENTITY e SYSTEM "file:///etc/passwd">]><xml><a>&e;</a></xml>',
    "external subset": '<!DOCTYPE xml SYSTEM "http://127.0.0.1:{port}/x.dtd"><xml><a>1</a></xml>',
    "public subset": (
        '<!DOCTYPE xml PUBLIC "-//X//Y" "http://127.0.0.1:{port}/x.dtd"><xml><a>1</a></xml>'
    ),
    "parameter entity": (
        '<!DOCTYPE xml [<!ENTITY % p SYSTEM "http://127.0.0.1:{port}/p"> %p;]><xml><a>1</a></xml>'
    ),
    "billion laughs": f"<!DOCTYPE xml [{LAUGHS}]><xml><a>&l9;</a></xml>",
    "quadratic": f'<!DOCTYPE xml [<!ENTITY q "{"q" * 10_000}">]><xml><a>{"&q;" * 10_000}</a></xml>',
    "undeclared entity": "<xml><a>&e;</a></xml>",
    "inclusion": (
        '<xml xmlns:xi="http://www.w3.org/2001/XInclude">'
        '<xi:include href="http://127.0.0.1:{port}/"/></xml>'
    ),
    "schema": (
        '<xml xmlns:s="http://www.w3.org/2001/XMLSchema-instance"'
        ' s:noNamespaceSchemaLocation="http://127.0.0.1:{port}/"><a>1</a></xml>'
    ),
    "style sheet": '<?xml-stylesheet href="http://127.0.0.1:{port}/"?><xml><a>1</a></xml>',
    "style sheet inside": '<xml><a>1<?xml-stylesheet href="http://127.0.0.1:{port}/"?></a></xml>',
    "comment in a value": "<xml><a>1<!-- -->0</a></xml>",
    "comment between": "<xml><!-- --><a>1</a></xml>",
    "comment before": "<!-- --><xml><a>1</a></xml>",
    "attribute": '<xml><a b="1">1</a></xml>',
    "namespace": '<xml xmlns="urn:x"><a>1</a></xml>',
    "nested": "<xml><a><b>1</b></a></xml>",
    "deep": "<xml>" + "<a>" * 100_000,
    "twice": "<xml><a>1</a><a>1</a></xml>",
    "two roots": "<xml><a>1</a></xml><xml><a>2</a></xml>",
    "text between": "<xml><a>1</a>2<b>3</b></xml>",
    "character data between": "<xml><![CDATA[<a>1</a>]]><b>3</b></xml>",
    "text after": "<xml><a>1</a></xml>2",
    "another root": "<html><a>1</a></html>",
    "character data that ends twice": "<xml><a><![CDATA[1]]>]]></a></xml>",
    "unended": "<xml><a>1",
    "NUL": "<xml><a>\x00</a></xml>",
    "reference to NUL": "<xml><a>&#0;</a></xml>",
    "reference to half a character": "<xml><a>&#xD800;</a></xml>",
    "too many": "<xml>" + "".join(f"<a{n}/>" for n in range(129)) + "</xml>",
    "nothing": "",
    "json": "{}",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_xml_is_refused_and_nothing_is_fetched(body: str, canary: socket.socket) -> None:
    hostile = body.replace("{port}", str(canary.getsockname()[1])).encode()
    with pytest.raises(NotFlatXml) as caught:
        parse_flat_xml(hostile, root="xml")
    assert str(caught.value)
    assert len(str(caught.value)) < 100
    sender = rsa_senders.sender("wechatpay_v2")
    assert sender.authenticate(rsa_senders.xml(hostile)) in (
        Rejected(Reason.BODY_MALFORMED),
        Rejected(Reason.BODY_EMPTY),
    )
    with pytest.raises(BlockingIOError):
        canary.accept()


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-7"])
def test_another_encoding_hides_no_doctype(encoding: str) -> None:
    with pytest.raises(NotFlatXml):
        parse_flat_xml("<!DOCTYPE xml><xml><a>1</a></xml>".encode(encoding), root="xml")


@given(
    st.binary(max_size=200)
    | st.text(alphabet="<xml>/a&;![]CDAT-? '\"=", max_size=60).map(str.encode)
)
def test_no_bytes_raise_anything_else(body: bytes) -> None:
    try:
        parse_flat_xml(b"<xml>" + body + b"</xml>", root="xml")
    except NotFlatXml:
        return
