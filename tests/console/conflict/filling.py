"""Forms of the conflict pages as a browser sends them back, and what the pages answer."""

import re
from html import unescape
from typing import Any

from django.contrib.messages import get_messages
from django.test import Client
from django.urls import reverse

from payments.models import Conflict, Resolution

_HIDDEN = re.compile(r'<input type="hidden" name="([a-z_]+)" value="([^"]*)">')


def address(conflict: Conflict, how: Resolution) -> str:
    return reverse("admin:payments_conflict_resolve", args=[conflict.pk, how.lower()])


def form_of(page: Any) -> dict[str, str]:
    """What the page's form carries beside what a person fills in."""
    return {name: unescape(value) for name, value in _HIDDEN.findall(page.content.decode())}


def filled(client: Client, conflict: Conflict, how: Resolution, **more: Any) -> dict[str, Any]:
    """The page's form as it stands now, filled in; of one that does not fit, as it could be."""
    named = {"order_no": more.pop("order_no")} if "order_no" in more else {}
    page = client.get(address(conflict, how), named)
    money = conflict.transaction
    amount = f"{money.amount_minor / 100:.2f}" if money else ""
    return {"why": "because", "amount": amount, **named, **form_of(page), **more}


def said(answer: Any) -> str:
    """What the page will tell."""
    return " ".join(str(message) for message in get_messages(answer.wsgi_request))
