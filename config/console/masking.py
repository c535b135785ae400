"""Raw callbacks without what proves something or says who somebody is.

What a body looks like is its provider's business, so that names are looked for as JSON, forms and
XML write them, JSON within JSON too.
"""

import re
from typing import Final

from config.console import evidence

#: Names of values that say who somebody is, where he lives, or what he pays with.
PERSONAL: Final = re.compile(
    r"name|mail|phone|mobile|address|street|line_?[12]|city|zip|postal|birth|passport|tax_?id"
    r"|card|\bpan\b|iban|bic|last_?4|holder|payer|buyer|openid|customer|shopper|(?:^|[_-])ip(?:$|[_-])",
    re.IGNORECASE,
)
_NAME: Final = r"[\w.:\[\]-]{1,80}"
_FORMS: Final = (
    re.compile(rf'("({_NAME})"\s*:\s*")((?:[^"\\]|\\.)*)()'),
    re.compile(rf'(\\"({_NAME})\\"\s*:\s*\\")((?:[^"\\]|\\[^"])*)()'),
    re.compile(rf'(\\?"({_NAME})\\?"\s*:\s*)(\d{{6,}})()'),
    re.compile(rf"((?:^|&)({_NAME})=)([^&\s]*)()", re.MULTILINE),
    re.compile(rf"(<({_NAME})>(?:<!\[CDATA\[)?)([^<\]]*)((?:\]\]>)?</)"),
)


def masked(body: str) -> str:
    """The body with the values of such names cut short, or taken away, with their length."""
    for form in _FORMS:
        body = form.sub(_value, body)
    return body


def _value(found: re.Match[str]) -> str:
    before, name, value, after = found.groups()
    if value and PERSONAL.search(name):
        return f"{before}[{len(value)} characters]{after}"
    return f"{before}{evidence.masked(name, value)}{after}"
