"""The reply of providers that look at the status only."""

from collections.abc import Mapping
from typing import Final

from payments.providers.port import Acknowledgement, Reply

#: One body for every refusal: a forger must not learn what was wrong.
BY_STATUS: Final[Mapping[Reply, Acknowledgement]] = {
    Reply.ACCEPTED: Acknowledgement(200, b"ok"),
    Reply.REJECTED: Acknowledgement(401, b"not authentic"),
    Reply.UNKNOWN_KEY: Acknowledgement(401, b"not authentic"),
    Reply.UNAVAILABLE: Acknowledgement(503, b"try again later"),
}
