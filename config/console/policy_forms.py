"""The forms of a policy: one part for each kind of conflict, and the amount for two people."""

from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget

from config.console import deeds, limits, policy_words
from config.console.approving import WhyForm
from config.console.limits import LimitsField
from payments.policies import document
from payments.policies.document import ALLOWED, PER_MILLE_MAX, TOLERATING, BadPolicy
from payments.policies.rules import Do, Kind, Rule, Rules

_DOES: Final = {
    Do.ASK: _("Ask a person"),
    Do.ACCEPT: _("Accept"),
    Do.REFUND: _("Refund automatically"),
}
_LABELS: Final = {
    "do": _("What is done"),
    "limits": _("Only payments up to"),
    "tolerance_minor": _("Difference of at most, in the currency's smallest unit"),
    "tolerance_per_mille": _("Difference of at most, per mille of what is owed"),
}


class Part(NamedTuple):
    """The fields of one kind."""

    title: str
    fields: list[forms.BoundField]


class RulesForm(WhyForm):
    """What rules decide, kind by kind, and why."""

    def __init__(self, rules: Rules, *args: Any) -> None:
        super().__init__(*args)
        for kind in Kind:
            for name, field in _fields(kind, rules.rule(kind)).items():
                self.fields[f"{kind}_{name}"] = field
        self.fields["why"] = self.fields.pop("why")  # last on the page
        self._above = dict(rules.four_eyes_above)

    def parts(self) -> Iterator[Part]:
        """The fields, kind by kind; the reason last."""
        for kind in Kind:
            names = [name for name in self.fields if name.startswith(f"{kind}_")]
            yield Part(str(policy_words.KINDS[kind]), [self[name] for name in names])
        yield Part(str(_("Why")), [self["why"]])

    def clean(self) -> dict[str, Any]:
        """With the document that the fields make, under `document`."""
        cleaned = super().clean() or {}
        if self.errors:
            return cleaned
        made = {kind: _rule(kind, cleaned) for kind in Kind}
        content: dict[str, Any] = {str(kind): rule for kind, rule in made.items() if rule}
        if self._above:
            content["four_eyes_above"] = self._above
        for kind, rule in made.items():
            try:
                document.read({str(kind): rule})
            except BadPolicy:
                self.add_error(f"{kind}_{_missing(rule)}", ValidationError(_NEEDED[_missing(rule)]))
        return cleaned | {"document": content}


class AboveForm(WhyForm):
    """Above which amounts two people decide."""

    above = LimitsField(
        label=_("One person decides alone up to"),
        help_text=_(
            "For each currency, as in: 100.00 USD, 15000 JPY. In a currency that is not named, "
            "and everywhere if this is empty, two people decide about any amount."
        ),
    )
    field_order = ("above", "why")


_NEEDED: Final = {
    "limits": _("Say up to how much, for each currency: as in 50.00 USD."),
    "tolerance_minor": _("Say by how much it may differ: here, per mille, or both."),
}


def _missing(rule: dict[str, Any]) -> str:
    """What a rule of known values still lacks."""
    return "tolerance_minor" if rule.get("limits") else "limits"


def _rule(kind: Kind, cleaned: dict[str, Any]) -> dict[str, Any]:
    """The part of the document; empty where a person is asked."""
    values = {name: cleaned.get(f"{kind}_{name}") for name in _LABELS}
    if values["do"] == Do.ASK:
        return {}
    if values["do"] != Do.ACCEPT:
        values["tolerance_minor"] = values["tolerance_per_mille"] = None
    return {name: value for name, value in values.items() if value not in (None, {})}


def _fields(kind: Kind, rule: Rule) -> dict[str, forms.Field]:
    does = [(do.value, _DOES[do]) for do in Do if do in ALLOWED[kind]]
    fields: dict[str, forms.Field] = {
        "do": forms.ChoiceField(choices=does, initial=rule.do, widget=UnfoldAdminSelectWidget),
        "limits": LimitsField(
            initial=limits.write(rule.limits),
            help_text=_("For each currency, as in: 50.00 USD, 500 JPY. Others ask a person."),
        ),
    }
    if kind in TOLERATING:
        fields["tolerance_minor"] = _whole(rule.tolerance_minor, 10**9)
        fields["tolerance_per_mille"] = _whole(rule.tolerance_per_mille, PER_MILLE_MAX)
        fields["tolerance_per_mille"].help_text = _(
            "For accepting. Where both are given, both must hold."
        )
    for name, field in fields.items():
        field.label = _LABELS[name]
    return fields


def _whole(initial: int | None, most: int) -> forms.IntegerField:
    return forms.IntegerField(
        required=False,
        min_value=0,
        max_value=most,
        initial=initial,
        widget=forms.NumberInput(attrs=deeds.LOOK),
    )
