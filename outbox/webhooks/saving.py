"""Look at a URL before it is saved: what it says, and where it leads now."""

from django.conf import settings

from outbox.webhooks.resolve import Resolver, system_resolver
from outbox.webhooks.target import check_addresses, read

LOOK_UP_SECONDS_MAX = 3.0


def check_url(url: str, *, resolver: Resolver = system_resolver) -> None:
    """Raises BadTarget, so that whoever saves it is told at once. It asks the network.

    A name that nobody knows yet may be saved. What decides is looked at again at each attempt.
    """
    private = settings.OUTBOX_WEBHOOK_ALLOW_PRIVATE
    target = read(url, private=private)
    if target.address is None:
        try:
            addresses = resolver(target.host, LOOK_UP_SECONDS_MAX)
        except OSError:
            return
        check_addresses(addresses, private=private)
