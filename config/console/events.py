"""The outbox: what was told, and what still waits to be."""

import uuid

from django.contrib import admin
from django.db.models import Model, Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from config.console import cells, filters, members, outgoing, redriving, rights
from config.console.cells import Section
from config.console.deeds import Deed
from config.console.screens import ReadOnlyScreen
from orders.events import AGGREGATE_TYPE as ORDER
from orders.models import Order
from outbox.models import Dispatch, Event
from payments.conflict_events import CONFLICT
from payments.models import Conflict, ProviderTransaction, Refund
from payments.refunds.events import PAYMENT, REFUND


@admin.register(Event)
class EventScreen(ReadOnlyScreen):
    """Events, and how far each got on its way to each destination."""

    list_display = ("shown_type", "tells_of", "progress", "created_at")
    list_filter = (filters.ProgressFilter, filters.between("created_at"))
    search_help_text = _("Event id, or start of what it is about: shop/1001")
    search_fields = ("aggregate_id__startswith",)
    ordering = ("-created_at",)
    actions = ("redrive",)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("id", "shown_type"),
                    ("about", "seq"),
                    ("tenant", "created_at"),
                )
            },
        ),
    )

    members_fieldsets = ((None, {"fields": (("id", "shown_type"), ("about_whole", "created_at"))}),)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Event], search_term: str
    ) -> tuple[QuerySet[Event], bool]:
        """The event of this id, or those about what begins so."""
        try:
            return queryset.filter(pk=uuid.UUID(search_term.strip())), False
        except ValueError:
            return super().get_search_results(request, queryset, search_term)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Event]:
        """With the way of each to those of its destinations that this user may see."""
        ways = members.own(request, Dispatch.objects.select_related("destination"))
        rows: QuerySet[Event] = super().get_queryset(request)
        return rows.prefetch_related(Prefetch("dispatches", ways.order_by("destination__code")))

    def has_operate_permission(self, request: HttpRequest) -> bool:
        """Who may redrive."""
        return rights.may(request, rights.OPERATE)

    @admin.action(description=_("Redrive where they are dead"), permissions=["operate"])
    def redrive(self, _request: HttpRequest, rows: QuerySet[Event]) -> HttpResponse:
        """Show how many, and to where."""
        return redriving.to_page(Dispatch.objects.filter(event__in=rows.values("pk")))

    def deeds(self, request: HttpRequest, row: Event) -> list[Deed]:
        """Put it back in line wherever it is dead."""
        dead = row.dispatches.filter(dead_at__isnull=False).values_list("pk", flat=True)
        if not rights.may(request, rights.OPERATE) or not dead:
            return []
        ids = ",".join(str(pk) for pk in dead[: redriving.REDRIVEN_MAX])
        return [outgoing.redrive(f"ids={ids}", gettext("Redrive"))]

    def sections(self, row: Event) -> list[Section]:
        """Where it goes, what is told, and with which headers."""
        return [
            Section(gettext("Destinations"), outgoing.ways_of(row)),
            Section(gettext("Payload"), cells.json_block(row.payload)),
            Section(gettext("Headers"), cells.json_block(row.headers)),
        ]

    def members_sections(self, row: Event) -> list[Section]:
        """Without the headers, which are the relay's."""
        return [
            Section(gettext("Your endpoints"), outgoing.ways_of(row)),
            Section(gettext("What is told"), cells.json_block(row.payload)),
        ]

    @admin.display(description=_("type"))
    def shown_type(self, event: Event) -> str:
        """What happened."""
        return cells.words(event.type)

    @admin.display(description=_("about"))
    def tells_of(self, event: Event) -> SafeString | str:
        """What it tells of, and which of the events about that it is."""
        return cells.short(f"{event.aggregate_id}#{event.seq}")

    @admin.display(description=_("about"))
    def about_whole(self, event: Event) -> SafeString | str:
        """The same, in full."""
        return cells.mono(f"{event.aggregate_type} {event.aggregate_id}#{event.seq}")

    @admin.display(description=_("state"))
    def progress(self, event: Event) -> SafeString:
        """How far it got on the way to each destination."""
        return outgoing.states_of(event)

    @admin.display(description=_("about"))
    def about(self, event: Event) -> SafeString | str:
        """What it tells of: an order, a refund, a payment or a conflict."""
        return cells.link(_subject(event), f"{event.aggregate_type} {event.aggregate_id}")


def _subject(event: Event) -> Model | None:
    """The row that it tells of: an aggregate is named by its merchant, its account, or its id."""
    owner, _, number = event.aggregate_id.rpartition("/")
    if event.aggregate_type == ORDER:
        return Order.objects.filter(merchant__code=owner, order_no=number).first()
    if event.aggregate_type == REFUND:
        return Refund.objects.filter(merchant__code=owner, refund_no=number).first()
    by_id: dict[str, type[Model]] = {PAYMENT: ProviderTransaction, CONFLICT: Conflict}
    model = by_id.get(event.aggregate_type)
    if model is None or not number.isdecimal():
        return None
    return QuerySet(model).filter(pk=int(number)).first()
