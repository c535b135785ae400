"""The console's name, colours and navigation."""

from typing import TYPE_CHECKING, Any, Final

from django.apps import apps
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django_stubs_ext import StrOrPromise


def _stylesheet(_request: HttpRequest) -> str:
    return static("console/console.css")


def _script(_request: HttpRequest) -> str:
    return static("console/console.js")


def _keyboard(_request: HttpRequest) -> str:
    return static("console/keyboard.js")


def _favicon(_request: HttpRequest) -> str:
    return static("console/favicon.svg")


def _no_colours(_request: HttpRequest) -> dict[str, Any]:
    return {}


def _item(title: "StrOrPromise", icon: str, model: str, **more: str) -> dict[str, Any]:
    """A list in the sidebar, for those who may see it."""
    app, _, name = model.partition(".")

    def may_see(request: HttpRequest) -> bool:
        # The settings come from here, before there are models.
        from config.console import rights  # noqa: PLC0415

        return rights.may_see(request, apps.get_model(model))

    link = reverse_lazy(f"admin:{app}_{name}_changelist")
    return {"title": title, "icon": icon, "link": link, "permission": may_see, **more}


NAVIGATION: Final[list[dict[str, Any]]] = [
    {
        "title": _("Decide"),
        "items": [
            _item(
                _("Conflicts"),
                "rule",
                "payments.conflict",
                badge="config.console.undecided.count",
                badge_variant="danger",
            ),
            _item(
                _("Waiting for approval"),
                "how_to_reg",
                "payments.proposal",
                badge="config.console.waiting.count",
                badge_variant="warning",
            ),
            _item(
                _("Manual payments"),
                "payments",
                "payments.manualpayment",
                badge="config.console.waiting.count_manual",
                badge_variant="warning",
            ),
            _item(_("Policies"), "policy", "payments.conflictpolicy"),
        ],
    },
    {
        "title": _("Money"),
        "items": [
            _item(_("Orders"), "receipt_long", "orders.order"),
            _item(_("Transactions"), "payments", "payments.providertransaction"),
            _item(_("Refunds"), "currency_exchange", "payments.refund"),
        ],
    },
    {
        "title": _("Traffic"),
        "items": [
            _item(_("Deliveries"), "move_to_inbox", "payments.delivery"),
            _item(_("Waiting for confirmation"), "hourglass_top", "payments.confirmation"),
            _item(_("Accounts"), "account_balance", "payments.provideraccount"),
            _item(_("Account keys"), "key_vertical", "payments.accountkey"),
        ],
    },
    {
        "title": _("Events out"),
        "items": [
            _item(_("Events"), "outbox", "outbox.event"),
            _item(_("Dispatches"), "send", "outbox.dispatch"),
            _item(_("Destinations"), "hub", "outbox.destination"),
            _item(_("Webhooks"), "webhook", "outbox.endpoint"),
        ],
    },
    {
        "title": _("Machinery"),
        "items": [
            _item(_("Idempotency keys"), "fingerprint", "idempotency.record"),
        ],
    },
    {
        "title": _("Access"),
        "items": [
            _item(_("Merchants"), "storefront", "orders.merchant"),
            _item(_("API keys"), "key", "orders.apikey"),
            _item(_("Notifications"), "notifications", "payments.recipient"),
            _item(_("Users"), "person", "auth.user"),
            _item(_("Groups"), "group", "auth.group"),
            # What roles may do is no secret among those who have some.
            {"title": _("Roles"), "icon": "badge", "link": reverse_lazy("admin:auth_group_roles")},
            _item(_("Audit"), "history_edu", "audit.auditentry"),
        ],
    },
]


def title_of(link: str) -> str:
    """What the sidebar calls the list at this address; empty if it does not lead there."""
    items = (item for group in NAVIGATION for item in group["items"])
    return next((str(item["title"]) for item in items if item["link"] == link), "")


UNFOLD: Final[dict[str, Any]] = {
    "SITE_TITLE": "Paidonce",
    "SITE_HEADER": "Paidonce",
    "SITE_SUBHEADER": _("Every callback, one effect"),
    "SITE_SYMBOL": "price_check",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _favicon}],
    "SITE_URL": None,
    "SHOW_BACK_BUTTON": True,
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "DASHBOARD_CALLBACK": "config.console.overview.overview",
    "STYLES": [_stylesheet],
    "SCRIPTS": [_script, _keyboard],
    # In console.css instead: the theme would write them into each page, where no style may stand.
    "COLORS": _no_colours,
    "LOGIN": {"form": "config.access.forms.LoginForm"},
    "SHOW_LANGUAGES": True,
    "LANGUAGES": {"action": reverse_lazy("access:language")},
    "ENVIRONMENT": "config.access.preferences.shown_time_zone",
    "ACCOUNT": {
        "navigation": [
            {"title": _("Language and time zone"), "link": reverse_lazy("access:preferences")},
            {"title": _("Second factor"), "link": reverse_lazy("access:mine")},
            {"title": _("Change password"), "link": reverse_lazy("admin:password_change")},
        ]
    },
    "SIDEBAR": {"show_search": False, "navigation": NAVIGATION},
}
