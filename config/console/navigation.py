"""The console's name, colours and navigation."""

from typing import Any, Final

from django.apps import apps
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy


def _stylesheet(_request: HttpRequest) -> str:
    return static("console/console.css")


def _favicon(_request: HttpRequest) -> str:
    return static("console/favicon.svg")


def _item(title: str, icon: str, model: str, **more: str) -> dict[str, Any]:
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
        "title": "Decide",
        "items": [
            _item(
                "Conflicts",
                "rule",
                "payments.conflict",
                badge="config.console.undecided.count",
                badge_variant="danger",
            ),
        ],
    },
    {
        "title": "Money",
        "items": [
            _item("Orders", "receipt_long", "orders.order"),
            _item("Transactions", "payments", "payments.providertransaction"),
            _item("Refunds", "currency_exchange", "payments.refund"),
        ],
    },
    {
        "title": "Traffic",
        "items": [
            _item("Deliveries", "move_to_inbox", "payments.delivery"),
            _item("Waiting for confirmation", "hourglass_top", "payments.confirmation"),
            _item("Accounts", "account_balance", "payments.provideraccount"),
        ],
    },
    {
        "title": "Events out",
        "items": [
            _item("Events", "outbox", "outbox.event"),
            _item("Dispatches", "send", "outbox.dispatch"),
            _item("Destinations", "hub", "outbox.destination"),
            _item("Webhooks", "webhook", "outbox.endpoint"),
        ],
    },
    {
        "title": "Machinery",
        "items": [
            _item("Idempotency keys", "fingerprint", "idempotency.record"),
        ],
    },
    {
        "title": "Access",
        "items": [
            _item("Merchants", "storefront", "orders.merchant"),
            _item("API keys", "key", "orders.apikey"),
            _item("Users", "person", "auth.user"),
            _item("Groups", "group", "auth.group"),
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
    "SITE_SUBHEADER": "Every callback, one effect",
    "SITE_SYMBOL": "price_check",
    "SITE_FAVICONS": [{"rel": "icon", "type": "image/svg+xml", "href": _favicon}],
    "SITE_URL": None,
    "SHOW_BACK_BUTTON": True,
    "SHOW_HISTORY": False,
    "SHOW_VIEW_ON_SITE": False,
    "BORDER_RADIUS": "6px",
    "DASHBOARD_CALLBACK": "config.console.overview.overview",
    "STYLES": [_stylesheet],
    "COLORS": {
        "primary": {
            "50": "oklch(97.7% .013 236.62)",
            "100": "oklch(95.1% .026 236.824)",
            "200": "oklch(90.1% .058 230.902)",
            "300": "oklch(82.8% .111 230.318)",
            "400": "oklch(74.6% .16 232.661)",
            "500": "oklch(68.5% .169 237.323)",
            "600": "oklch(58.8% .158 241.966)",
            "700": "oklch(50% .134 242.749)",
            "800": "oklch(44.3% .11 240.79)",
            "900": "oklch(39.1% .09 240.876)",
            "950": "oklch(29.3% .066 243.157)",
        }
    },
    "SIDEBAR": {"show_search": False, "navigation": NAVIGATION},
}
