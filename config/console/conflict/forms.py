"""What a person fills in when he decides: why, and where a number must be meant, the number."""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from config.console import deeds, related
from orders.money import Money, NotMoney, from_major
from payments.conflicts.fitting import NEEDS_REASON
from payments.models import WHY_LENGTH_MAX, ProviderTransaction, Resolution


class WhyForm(forms.Form):
    """Why, for whoever reads it later."""

    why = forms.CharField(
        label=gettext_lazy("Why"),
        max_length=WHY_LENGTH_MAX,
        widget=forms.Textarea(attrs={**deeds.LOOK, "rows": 2}),
        help_text=gettext_lazy("For the record: it is kept in the audit, and cannot be changed."),
    )


class DecisionForm(WhyForm):
    """The reason; and the amount, typed by hand, where the order is to cost something else."""

    amount = forms.CharField(
        label=gettext_lazy("Amount that the order costs from now on"),
        max_length=30,
        widget=forms.TextInput(attrs={**deeds.LOOK, "inputmode": "decimal", "autocomplete": "off"}),
    )
    field_order = ("amount", "why")

    def __init__(
        self,
        *args: Any,
        how: Resolution,
        takes_two: bool,
        money: ProviderTransaction | None,
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self.fields["why"].required = takes_two or how in NEEDS_REASON
        self._money = money
        if how is not Resolution.ACCEPT_RECEIVED or money is None:
            del self.fields["amount"]
            return
        shown = related.money(money.amount_minor, money.currency)
        says = _("%(amount)s came. Type the number, so that it is surely meant.")
        self.fields["amount"].help_text = says % {"amount": shown}

    def clean_amount(self) -> Money:
        """What came, and nothing else. Raises ValidationError."""
        money = self._money
        assert money is not None  # noqa: S101 - else there is no such field
        number = str(self.cleaned_data["amount"]).replace(money.currency, "").strip()
        came = Money(money.amount_minor, money.currency)
        try:
            typed = from_major(number, money.currency)
        except NotMoney as error:
            raise ValidationError(_("That is no amount of %(currency)s.") % _of(came)) from error
        if typed != came:
            raise ValidationError(_("%(amount)s came: type exactly that.") % _of(came))
        return came


def _of(money: Money) -> dict[str, str]:
    return {"amount": str(money), "currency": money.currency}
