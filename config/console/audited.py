"""Screens whose changes are entered in the audit, in the transaction that makes them."""

from typing import TYPE_CHECKING, Any

from django.db.models import Model, QuerySet
from django.http import HttpRequest

from audit import chain
from config.console import who

if TYPE_CHECKING:
    from django.contrib.admin import ModelAdmin

    _Screen = ModelAdmin[Any]
else:
    _Screen = object


class Audited(_Screen):
    """Django calls `log_...` after every change that its forms make; `state` is what is kept."""

    def state(self, row: Any) -> dict[str, Any]:
        """The row as the audit shows it: no secret."""
        raise NotImplementedError

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:  # noqa: FBT001 - Django's own
        """Remember what it was."""
        known = type(obj).objects.filter(pk=obj.pk).first() if change else None
        request._audit_before = self.state(known) if known else {}  # type: ignore[attr-defined]  # noqa: SLF001 - our own name
        super().save_model(request, obj, form, change)

    def log_addition(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """A row was made."""
        self._record("added", request, obj, {}, self.state(obj))
        return super().log_addition(request, obj, message)

    def log_change(self, request: HttpRequest, obj: Model, message: Any) -> Any:
        """A row was changed; `message` names the fields, also those that no state shows."""
        before = getattr(request, "_audit_before", {})
        parts = message if isinstance(message, list) else []
        fields = [part["changed"].get("fields", []) for part in parts if "changed" in part]
        self._record("changed", request, obj, before, {**self.state(obj), "fields": fields})
        return super().log_change(request, obj, message)

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        """Rows are about to be deleted."""
        for row in queryset:
            self._record("deleted", request, row, self.state(row), {})
        return super().log_deletions(request, queryset)

    def _record(
        self,
        what: str,
        request: HttpRequest,
        row: Model,
        before: dict[str, Any],
        after: dict[str, Any],
    ) -> None:
        name = str(row._meta.model_name)  # noqa: SLF001 - Django's documented way to a model's names
        chain.record(
            by=who.actor(request.user, request),
            action=f"{name}.{what}",
            object_type=name,
            object_id=row.pk,
            before=before,
            after=after,
        )
