"""Who is told of conflicts: who they are, what they were told last, and whether it arrives."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import Model, QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from config.console import cells, filters, recipient_moves, rights
from config.console.cells import Section
from config.console.deeds import Deed
from config.console.related import ROWS_MAX
from config.console.screens import ReadOnlyScreen
from payments.models import Level, NotificationKind, NotificationMessage, Recipient


@admin.register(Recipient)
class RecipientScreen(ReadOnlyScreen):
    """Recipients; whoever may manage them adds, tests and stops them."""

    list_display = ("shown_address", "shown_kind", "of", "shown_least", "standing", "created_at")
    list_select_related = ("merchant",)
    list_filter = (filters.choices("kind"), "active")
    search_fields = ("shown",)
    search_help_text = _("Part of an address")
    fields = (
        ("shown_address", "shown_kind"),
        ("of", "shown_least"),
        ("standing", "created_at"),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Without what is sealed, and with the message that is not through."""
        rows: QuerySet[Any] = super().get_queryset(request).defer("address", "secret")
        return rows.prefetch_related(recipient_moves.unsent())

    def get_urls(self) -> list[URLPattern]:
        """And the pages that test and stop one."""
        view = self.admin_site.admin_view
        moves = (("test", recipient_moves.test), ("stop", recipient_moves.stop))
        own = [
            path(f"<int:pk>/{verb}/", view(page), name=f"payments_recipient_{verb}")
            for verb, page in moves
        ]
        return [*own, *super().get_urls()]

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """Whoever may manage them."""
        return bool(request.user.has_perm(rights.NOTIFY))

    def add_view(
        self,
        request: HttpRequest,
        form_url: str = "",  # noqa: ARG002 - Django's own
        extra_context: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> HttpResponse:
        """The page that asks whom to tell, and of what."""
        return recipient_moves.add(request)

    def deeds(self, request: HttpRequest, row: Recipient) -> list[Deed]:
        """Test it, stop it."""
        if not row.active or not request.user.has_perm(rights.NOTIFY):
            return []
        test, stop = (
            reverse(f"admin:payments_recipient_{verb}", args=[row.pk]) for verb in ("test", "stop")
        )
        return [
            Deed(str(_("Send a test")), test),
            Deed(str(_("Stop telling")), stop, grave=True),
        ]

    def sections(self, row: Recipient) -> list[Section]:
        """What it was sent."""
        return [Section(str(_("Messages")), _messages(row))]

    @admin.display(description=_("address"))
    def shown_address(self, row: Recipient) -> str:
        """What of the address may be seen."""
        return cells.words(row.shown)

    @admin.display(description=_("told by"))
    def shown_kind(self, row: Recipient) -> str:
        """The way to it."""
        return str(recipient_moves.KINDS[NotificationKind(row.kind)])

    @admin.display(description=_("conflicts of"))
    def of(self, row: Recipient) -> SafeString | str:
        """Of whose conflicts it is told."""
        return cells.link(row.merchant) if row.merchant else str(_("all merchants"))

    @admin.display(description=_("told from"))
    def shown_least(self, row: Recipient) -> str:
        """The lowest level that it is told of."""
        return str(recipient_moves.LEVELS[Level(row.least)])

    @admin.display(description=_("standing"))
    def standing(self, row: Any) -> SafeString | str:
        """Whether it is told, and whether it takes what it is told."""
        if not row.active:
            return cells.label("STOPPED", {})
        failing = next((message for message in row.unsent if message.last_error), None)
        if failing is None:
            return cells.label("WORKS", {"WORKS": "success"})
        return cells.two_lines(
            cells.label("FAILS", {"FAILS": "danger"}), cells.words(failing.last_error)
        )


_COLUMNS: Final = (_("Made"), _("Sent"), _("Attempts"), _("Conflicts"), _("Last error"))


def _messages(row: Recipient) -> SafeString:
    sent = NotificationMessage.objects.filter(recipient=row).order_by("-made_at")
    shown = sent.prefetch_related("notifications__conflict")[:ROWS_MAX]
    return cells.table(
        [str(name) for name in _COLUMNS],
        [
            (
                cells.moment(message.made_at),
                cells.moment(message.sent_at),
                message.attempts,
                _conflicts(message),
                cells.words(message.last_error),
            )
            for message in shown
        ],
    )


def _conflicts(message: NotificationMessage) -> SafeString | str:
    """The first of them; a test has none."""
    told = list(message.notifications.all())
    if not told:
        return str(_("none: a test"))
    first = cells.link(told[0].conflict, told[0].conflict.reason)
    if len(told) == 1:
        return first
    return cells.two_lines(first, str(_("and %(count)d more") % {"count": len(told) - 1}))
