"""What the providers delivered, byte by byte, and what became of it."""

from typing import Any, Final

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path, reverse
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.console import (
    cells,
    colours,
    evidence,
    filters,
    related,
    replaying,
    rights,
    text,
)
from config.console.cells import Section
from config.console.deeds import Deed
from config.console.screens import ReadOnlyScreen
from orders.models import Order
from payments.models import AccountKey, Conflict, Delivery

_DIGEST_HEX_LENGTH: Final = 64


@admin.register(Delivery)
class DeliveryScreen(ReadOnlyScreen):
    """One row for each authentic callback, repeats too."""

    list_display = (
        "received_at",
        "became",
        "shown_type",
        "order_no",
        "shown_txn_no",
        "account",
    )
    list_select_related = ("account",)
    list_filter = (
        filters.choices("outcome"),
        filters.ReasonFilter,
        filters.PROVIDER,
        filters.ACCOUNT,
        filters.MERCHANT,
        filters.between("received_at"),
    )
    search_fields = ("order_no__exact", "txn_no__exact", "event_id__exact")
    linked_by = ("order_no", "transaction__id__exact")
    actions = ("replay",)
    search_help_text = _("A whole order, transaction or event number, or the SHA-256 of the body")
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("received_at", "shown_outcome"),
                    ("shown_type", "kind"),
                    ("shown_event_id", "shown_reason"),
                    ("order_page", "transaction_page"),
                    ("account_page", "merchant"),
                    ("linked", "shown_key"),
                    ("digest", "batch"),
                    ("original",),
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows without their bytes, which only a page needs."""
        return super().get_queryset(request).defer("body", "headers")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Those with this digest, or one of the numbers."""
        term = search_term.strip()
        if len(term) == _DIGEST_HEX_LENGTH:
            try:
                return queryset.filter(body_sha256=bytes.fromhex(term)), False
            except ValueError:
                pass
        return super().get_search_results(request, queryset, search_term)

    def get_urls(self) -> list[URLPattern]:
        """And the page that replays."""
        view = self.admin_site.admin_view(replaying.view)
        return [path("replay/", view, name="payments_delivery_replay"), *super().get_urls()]

    def has_replay_permission(self, request: HttpRequest) -> bool:
        """Who may replay."""
        return request.user.has_perm(rights.REPLAY)

    @admin.action(description=_("See what they would change now"), permissions=["replay"])
    def replay(self, _request: HttpRequest, rows: QuerySet[Delivery]) -> HttpResponse:
        """Show it; nothing is done yet."""
        return replaying.to_page(rows)

    def deeds(self, request: HttpRequest, row: Delivery) -> list[Deed]:
        """See what it would change now."""
        if not request.user.has_perm(rights.REPLAY):
            return []
        link = f"{reverse('admin:payments_delivery_replay')}?ids={row.pk}"
        return [Deed(gettext("Take it once more"), link)]

    def sections(self, row: Delivery) -> list[Section]:
        """The bytes, the headers, and what was asked because of it."""
        asked = Conflict.objects.filter(delivery=row)
        together = Delivery.objects.filter(batch_id=row.batch_id).exclude(pk=row.pk)
        sections = [
            Section(gettext("Body"), evidence.body(row)),
            Section(gettext("Headers"), evidence.headers(row.headers)),
            Section(gettext("Conflicts"), related.conflicts(asked)),
        ]
        if row.item_no or together.exists():
            sections.append(Section(gettext("Others in its batch"), related.deliveries(together)))
        replays = Delivery.objects.filter(replay_of__batch_id=row.batch_id, item_no=row.item_no)
        if replays.exists():
            sections.append(Section(gettext("Taken once more"), related.deliveries(replays)))
        return sections

    @admin.display(description=_("outcome"))
    def became(self, row: Delivery) -> SafeString | str:
        """What became of it, and why."""
        return cells.two_lines(cells.label(row.outcome, colours.OUTCOME), row.reason)

    @admin.display(description=_("transaction"))
    def shown_txn_no(self, row: Delivery) -> SafeString | str:
        """The provider's number of the money."""
        return cells.short(row.txn_no)

    @admin.display(description=_("outcome"))
    def shown_outcome(self, row: Delivery) -> SafeString | str:
        """What became of it."""
        return cells.label(row.outcome, colours.OUTCOME)

    @admin.display(description=_("reason"))
    def shown_reason(self, row: Delivery) -> str:
        """Why, in a word and in the reader's words."""
        return " - ".join(filter(None, (row.reason, text.visible(row.detail)))) or cells.NOTHING

    @admin.display(description=_("event"))
    def shown_type(self, row: Delivery) -> SafeString | str:
        """The provider's name for what happened."""
        return cells.short(row.event_type)

    @admin.display(description=_("event id"))
    def shown_event_id(self, row: Delivery) -> SafeString | str:
        """The provider's number of the event."""
        return cells.mono(row.event_id)

    @admin.display(description=_("order"))
    def order_page(self, row: Delivery) -> SafeString | str:
        """The order that it names, or only the number where nobody has placed it."""
        order = Order.objects.filter(merchant=row.merchant_id, order_no=row.order_no).first()
        return cells.link(order) if order else cells.mono(row.order_no)

    @admin.display(description=_("transaction"))
    def transaction_page(self, row: Delivery) -> SafeString | str:
        """The money that it told, or only its number where none was entered."""
        return cells.link(row.transaction) if row.transaction else cells.mono(row.txn_no)

    @admin.display(description=_("account"))
    def account_page(self, row: Delivery) -> SafeString | str:
        """Where it came in."""
        return cells.link(row.account)

    @admin.display(description=_("linked numbers"))
    def linked(self, row: Delivery) -> SafeString | str:
        """Other numbers that the provider knows it by."""
        return cells.mono(", ".join(row.linked_nos))

    @admin.display(description=_("verified with"))
    def shown_key(self, row: Delivery) -> SafeString | str:
        """The id of the key, which leads to it as long as it is there."""
        keys = AccountKey.objects.filter(account=row.account_id, key_id=row.key_id)
        key = keys.defer("material").first()
        return cells.link(key, row.key_id) if key else cells.mono(row.key_id)

    @admin.display(description=_("SHA-256 of the body"))
    def digest(self, row: Delivery) -> SafeString | str:
        """The digest, to search by."""
        return cells.mono(bytes(row.body_sha256).hex())

    @admin.display(description=_("replay of"))
    def original(self, row: Delivery) -> SafeString | str:
        """The request that came in, of which this is a replay."""
        first = row.replay_of
        return cells.link(first, cells.moment(first.received_at)) if first else cells.NOTHING

    @admin.display(description=_("batch"))
    def batch(self, row: Delivery) -> str:
        """Its place among the callbacks of one request."""
        return gettext("%(batch)s, item %(item)s") % {"batch": row.batch_id, "item": row.item_no}
