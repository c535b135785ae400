"""What the console says: its own sentences, names of columns, and the theme's."""

import gettext
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

import django
import unfold
from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets

from config import names
from config.translations import source
from config.translations.source import Message

CONFIG: Final = Path(__file__).resolve().parent.parent
LOCALE: Final = "zh_Hans"
#: Where people read: their sentences are marked in these.
READ: Final = ("console", "access")
#: What else tells people something, among what nobody reads.
TELLS: Final = ("payments/conflicts", "payments/manual", "payments/policies")
TELLS_ALONE: Final = (
    *("payments/giving_roles.py", "payments/replay.py", "payments/key_report.py"),
    *("payments/models/policies.py", "payments/models/proposals.py"),
    *("outbox/destinations/directory.py", "outbox/webhooks/endpoints.py"),
    "payments/notifications/recipients.py",
    *("payments/clients/choice.py", "payments/refunds/access.py", "payments/refunds/request.py"),
)
#: Where a message comes from: the theme, whose releases differ in what they say.
THEME: Final = "unfold"
_MODELS: Final = "models"
#: What of it no page of ours has.
_UNUSED: Final = frozenset(
    {"forms", "guardian", "hijack", "import_export", "inlines", "reversion", "simple_history"}
    | {"mixins", "object_history.html", "reversion_compare", "unfold_crispy"}
)


def wanted() -> Mapping[Message, str]:
    """Every message that the console may show in words of ours, and where it is."""
    found: dict[Message, str] = {}
    for place, message in [*_ours(), *((_MODELS, name) for name in _of_models())]:
        found.setdefault(message, place)
    known = _of_django()
    for message in _of_theme():
        if first(message) not in known:
            found.setdefault(message, THEME)
    return found


def left() -> Iterator[tuple[str, int, str]]:
    """What looks as if a person read it and nobody can translate it: file, line, text."""
    for folder in READ:
        for path, text in source.modules(CONFIG / folder):
            yield from ((_name(path), *found) for found in source.left_in_python(text))
    for path, text in source.templates(CONFIG / "templates"):
        yield from ((_name(path), *found) for found in source.left_in_template(text))


def _ours() -> Iterator[tuple[str, Message]]:
    folders = [*(CONFIG / name for name in READ), *(CONFIG.parent / name for name in TELLS)]
    alone = [CONFIG.parent / name for name in TELLS_ALONE]
    told = [found for folder in folders for found in source.modules(folder)]
    for path, text in told + [(path, path.read_text()) for path in alone]:
        yield from ((_name(path), message) for message in source.in_python(text))
    for path, text in source.templates(CONFIG / "templates"):
        yield from ((_name(path), message) for message in source.in_template(text))


def _of_models() -> Iterator[str]:
    """The names that models give to themselves and to those of their columns that are shown."""
    for model, screen in admin.site._registry.items():  # noqa: SLF001 - admin tells them in no other way
        if names.is_ours(model):
            shown = {*flatten_fieldsets(screen.fieldsets or ()), *screen.list_display}
            shown |= {_column(chosen) for chosen in screen.list_filter}
            yield from names.of(model, {str(name) for name in shown})


def _column(chosen: object) -> str:
    """The column of a filter, which is named alone or together with the filter's class."""
    return str(chosen[0] if isinstance(chosen, tuple) else chosen)


def _of_theme() -> Iterator[Message]:
    folder = Path(unfold.__file__).parent
    for path, text in source.modules(folder):
        if not _UNUSED & {*path.parts}:
            yield from source.in_python(text, is_ours=False)
    for path, text in source.templates(folder):
        if not _UNUSED & {*path.parts}:
            yield from source.in_template(text)


def _of_django() -> frozenset[str]:
    """What Django itself says in Chinese."""
    root = Path(django.__file__).parent
    known: set[str] = set()
    for path in root.rglob(f"locale/{LOCALE}/LC_MESSAGES/django.mo"):
        with path.open("rb") as file:
            catalog = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]  # noqa: SLF001 - the standard library lists them in no other way
        known |= {key if isinstance(key, str) else key[0] for key in catalog}
    return frozenset(known)


def first(message: Message | object) -> str:
    """A sentence, or its singular."""
    return message if isinstance(message, str) else message[0]  # type: ignore[index]


def _name(path: Path) -> str:
    return str(path.relative_to(CONFIG.parent))
