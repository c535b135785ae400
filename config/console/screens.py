"""The base of every screen: it shows rows, at a bounded cost, and changes none."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from django.contrib import messages
from django.contrib.admin import ShowFacets
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.paginator import Paginator
from django.db import OperationalError
from django.db.models import Model, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import URLPattern, path
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from psycopg.errors import QueryCanceled

from config.console import audit_trail, evidence_pages, exporting, members, rights
from config.console.cells import Section
from config.console.deeds import Deed
from config.console.navigation import title_of

if TYPE_CHECKING:
    # unfold ships no types; what it adds to Django's classes is attributes.
    from django.contrib.admin import ModelAdmin
    from django.contrib.admin.views.main import ChangeList
    from django_stubs_ext import StrOrPromise

    _Screen = ModelAdmin[Any]
    _Paginator = Paginator[Any]
else:
    from unfold.admin import ModelAdmin as _Screen
    from unfold.views import ChangeList

    _Paginator = Paginator

#: How many rows a list counts and leafs through; who needs more must search.
ROWS_COUNTED_MAX: Final = 10_000


# How the filters in use name their parameters.
_FILTER_SUFFIXES: Final = (
    *("", "__exact", "__id__exact", "__isempty"),
    *("_from_0", "_from_1", "_to_0", "_to_1"),
)


class BoundedPaginator(_Paginator):
    """Counts no further than ROWS_COUNTED_MAX, whatever the size of the table."""

    @cached_property
    def count(self) -> int:
        """The number of rows, as far as it is counted."""
        rows = self.object_list
        assert isinstance(rows, QuerySet)  # noqa: S101 - a list of the console is a query
        return rows[:ROWS_COUNTED_MAX].count()


class Rows(ChangeList):
    """A list that refuses what no column can hold, and does not claim to be filtered."""

    def __init__(self, request: HttpRequest, *args: Any, **kwargs: Any) -> None:
        # PostgreSQL has no NUL in its texts, and would say so only while it is asked.
        if any("\0" in value for values in request.GET.lists() for value in values[1]):
            raise IncorrectLookupParameters
        super().__init__(request, *args, **kwargs)
        self.title = title_of(request.path) or self.title

    def get_results(self, request: HttpRequest) -> None:
        """The page of rows that was asked for."""
        super().get_results(request)
        # Ask now: later it would be the template that fails, after the answer has begun.
        len(self.result_list)
        if not self.query and not self.get_filters_params():
            self.full_result_count = self.result_count


class ReadOnlyScreen(_Screen):
    """Shows a table to whoever may view it; nobody adds, changes or deletes here."""

    actions: Sequence[Any] | None = ()
    list_per_page = 50
    list_max_show_all = 0
    list_fullwidth = True
    list_filter_submit = True
    show_full_result_count = False
    show_facets = ShowFacets.NEVER
    sortable_by = ()
    ordering: ClassVar[tuple[str, ...]] = ("-id",)
    paginator = BoundedPaginator
    #: What links to the list ask for beyond its filters.
    linked_by: ClassVar[tuple[str, ...]] = ()
    empty_value_display = "-"
    #: The fields of a row's page for merchants' members, where they are others.
    members_fieldsets: ClassVar[tuple[Any, ...] | None] = None
    #: How rows come about, for whoever looks for a way to make one.
    teaches: ClassVar["StrOrPromise"] = ""
    change_form_before_template = "console/ahead.html"
    change_form_after_template = "console/sections.html"

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """The rows that this user may see: a list, a page, a search know no others."""
        return members.own(request, super().get_queryset(request))

    def get_object(
        self, request: HttpRequest, object_id: str, from_field: str | None = None
    ) -> Model | None:
        """The row. Raises Http404 for a member: what is another's is not there for him."""
        row: Model | None = super().get_object(request, object_id, from_field)
        if row is None and members.membership(request) is not None:
            raise Http404
        return row

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """Whoever may view the table, and merchants' members where it has something of theirs."""
        return rights.may_see(request, self.model)

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """Nobody: rows are made by what happens."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """Nobody."""
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:  # noqa: ARG002
        """Nobody."""
        return False

    def lookup_allowed(
        self,
        lookup: str,
        value: Any,  # noqa: ARG002 - any value may be asked for
        request: HttpRequest | None = None,
    ) -> bool:
        """What the filters and our own links ask for.

        Django allows all columns and all comparisons: a way to guess at what is not shown.
        """
        filters = self.list_filter if request is None else self.get_list_filter(request)
        names = {getattr(chosen, "parameter_name", "") or _column(chosen) for chosen in filters}
        asked = {f"{name}{suffix}" for name in names for suffix in _FILTER_SUFFIXES}
        return lookup in asked or lookup in self.linked_by

    def get_urls(self) -> list[URLPattern]:
        """And the page that exports the list."""
        view = self.admin_site.admin_view(partial(exporting.view, self))
        name = f"{self.opts.app_label}_{self.opts.model_name}_export"
        return [path("export/", view, name=name), *super().get_urls()]

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list; or back to all of it, where the database gave up on what was asked."""
        more = {"export_link": exporting.link(self, request), "teaches": self.teaches}
        try:
            return super().changelist_view(request, (extra_context or {}) | more)
        except OperationalError as error:
            if not request.GET or not isinstance(error.__cause__, QueryCanceled):
                raise
        messages.error(request, _("That took too long. Ask for a whole number, or for fewer days."))
        return HttpResponseRedirect(request.path)

    def get_changelist(self, request: HttpRequest, **_: Any) -> type[ChangeList]:  # noqa: ARG002
        """The list with honest counts."""
        return Rows

    def get_fieldsets(self, request: HttpRequest, obj: Model | None = None) -> Any:
        """The fields, without what only those who run the service see."""
        if self.members_fieldsets is not None and members.membership(request) is not None:
            return self.members_fieldsets
        return super().get_fieldsets(request, obj)

    def render_change_form(
        self, request: HttpRequest, context: dict[str, Any], *args: Any, **kwargs: Any
    ) -> HttpResponse:
        """The page of a row, with what comes ahead of its fields and what follows them."""
        row = kwargs.get("obj") or context.get("original")
        if row is not None:
            is_member = members.membership(request) is not None
            context |= {
                "ahead": self.ahead(row),
                "deeds": [*self.deeds(request, row), *evidence_pages.links(request, row)],
                "hint": self.hint(request, row),
                "sections": self.members_sections(row)
                if is_member
                else [*self.sections(row), *audit_trail.section(request, row)],
            }
        return super().render_change_form(request, context, *args, **kwargs)

    def ahead(self, row: Any) -> str:  # noqa: ARG002 - for screens to say
        """What a person should read first; empty if nothing."""
        return ""

    def deeds(self, request: HttpRequest, row: Any) -> list[Deed]:  # noqa: ARG002 - for screens to say
        """What this user can do about it."""
        return []

    def hint(self, request: HttpRequest, row: Any) -> str:  # noqa: ARG002 - for screens to say
        """Why this user is not offered what others are; empty if nothing is missing."""
        return ""

    def sections(self, row: Any) -> list[Section]:  # noqa: ARG002 - for screens to say
        """What belongs to the row beyond its own fields."""
        return []

    def members_sections(self, row: Any) -> list[Section]:
        """What of it a merchant's member sees."""
        return self.sections(row)


def _column(chosen: Any) -> str:
    """The column of a filter, which is named alone or together with the filter's class."""
    return str(chosen if isinstance(chosen, str) else chosen[0])
