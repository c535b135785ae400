"""XML as WeChat Pay v2 writes it, and no more: a root with text elements, each name once.

A DOCTYPE, entities, attributes, comments, processing instructions, nesting, a repeated name, and
any encoding but UTF-8 are refused. Nothing is ever fetched.
"""

from typing import Final
from xml.etree.ElementTree import ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser

from payments.providers.sorted_params import FIELDS_MAX

_VALUE_DEPTH: Final = 2


class NotFlatXml(ValueError):
    """The body is not such XML; the message never quotes it."""


def parse_flat_xml(body: bytes, *, root: str) -> dict[bytes, bytes]:
    """The elements below the root, names and values as UTF-8. Raises NotFlatXml."""
    target = _Fields(root)
    parser = DefusedXMLParser(target=target, forbid_dtd=True)
    try:
        # As text, so that the XML declaration's encoding has no say.
        parser.feed(body.decode("utf-8"))
        parser.close()
    except UnicodeDecodeError:
        raise NotFlatXml("not UTF-8") from None
    except DefusedXmlException:
        raise NotFlatXml("a DOCTYPE or an entity") from None
    except (ParseError, ValueError) as error:
        raise NotFlatXml(str(error) if isinstance(error, NotFlatXml) else "not XML") from None
    return target.fields


class _Fields:
    """What the parser calls for each thing it sees."""

    def __init__(self, root: str) -> None:
        self.fields: dict[bytes, bytes] = {}
        self._root = root
        self._path: list[str] = []
        self._text: list[str] = []

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._path.append(tag)
        if attributes or len(self._path) > _VALUE_DEPTH:
            raise NotFlatXml("attributes or nested elements")
        if self._path[0] != self._root:
            raise NotFlatXml("another root element")
        if tag.encode() in self.fields or len(self.fields) >= FIELDS_MAX:
            raise NotFlatXml("an element occurs more than once, or there are too many")
        self._text = []

    def data(self, text: str) -> None:
        if len(self._path) == _VALUE_DEPTH:
            self._text.append(text)
        elif text.strip(" \t\r\n"):
            raise NotFlatXml("text between the elements")

    def end(self, tag: str) -> None:
        if len(self._path) == _VALUE_DEPTH:
            self.fields[tag.encode()] = "".join(self._text).encode()
        self._path.pop()

    def comment(self, _: str) -> None:
        raise NotFlatXml("a comment")

    def pi(self, *_: str) -> None:
        raise NotFlatXml("a processing instruction")
