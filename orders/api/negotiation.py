"""Every answer is JSON, whatever a client says it would accept."""

from collections.abc import Iterable

from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.renderers import BaseRenderer
from rest_framework.request import Request


class AlwaysJSON(DefaultContentNegotiation):
    """The first renderer answers. A 406 would only hide the answer, or the problem, behind one."""

    def select_renderer(
        self,
        request: Request,  # noqa: ARG002 - DRF's signature
        renderers: Iterable[BaseRenderer],
        format_suffix: str | None = None,  # noqa: ARG002
    ) -> tuple[BaseRenderer, str]:
        """The first, and its media type."""
        first = next(iter(renderers))
        return first, str(first.media_type)
