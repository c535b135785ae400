"""The Chinese of the console: the files, and what is wrong with them."""

from datetime import UTC, datetime
from io import BytesIO
from typing import Final

from babel.messages.catalog import Catalog
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

from config.translations import wanted
from config.translations.wanted import CONFIG, LOCALE, THEME, first

PO: Final = CONFIG / "locale" / LOCALE / "LC_MESSAGES" / "django.po"
MO: Final = PO.with_suffix(".mo")
# A date of its own in the files would make every two branches differ.
_NO_DATE: Final = datetime(2026, 1, 1, tzinfo=UTC)


def read() -> Catalog:
    """The catalog as it is kept."""
    with PO.open("rb") as file:
        return read_po(file, locale=LOCALE)


def updated(kept: Catalog) -> Catalog:
    """The catalog with what is wanted: new messages are without words yet, old ones are gone.

    What only another release of the theme says stays.
    """
    fresh = Catalog(locale=LOCALE, project="Paidonce", creation_date=_NO_DATE)
    fresh.revision_date = _NO_DATE
    for message, place in wanted.wanted().items():
        known = kept.get(first(message))
        words = known.string if known is not None and known.id == message else None
        fresh.add(message, words, locations=[(place, None)])  # type: ignore[list-item]
    for known in kept:
        if known.id and known.locations and known.locations[0][0] == THEME:
            fresh.add(known.id, known.string, locations=known.locations)
    return fresh


def untranslated(catalog: Catalog) -> list[str]:
    """The messages without words, or without a word for each of their forms."""
    return [
        str(first(message.id))
        for message in catalog
        if message.id and not all(_forms(message.string))
    ]


def misnamed(catalog: Catalog) -> list[str]:
    """The messages whose words name other placeholders than they do."""
    return [
        str(first(message.id))
        for message in catalog
        if message.id and message.string and any(message.check(catalog))
    ]


def po_bytes(catalog: Catalog) -> bytes:
    """The file for translators and for git."""
    file = BytesIO()
    write_po(file, catalog, width=100, sort_output=True, include_lineno=False)
    return file.getvalue()


def mo_bytes(catalog: Catalog) -> bytes:
    """The file that Django reads."""
    file = BytesIO()
    write_mo(file, catalog)
    return file.getvalue()


def _forms(words: object) -> tuple[str, ...]:
    return words if isinstance(words, tuple) else (str(words or ""),)
