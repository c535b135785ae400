"""What a browser may load and run on our pages, by the address of the page."""

from collections.abc import Callable, Mapping
from typing import Final

from django.http import HttpRequest, HttpResponse

_NOWHERE: Final = "frame-ancestors 'none'; base-uri 'none'; object-src 'none'"
_OWN: Final = f"default-src 'self'; img-src 'self' data:; form-action 'self'; {_NOWHERE}"

#: Answers are data, not pages: nothing is loaded for them.
ELSEWHERE: Final = "default-src 'none'; frame-ancestors 'none'"
#: The pages, by the beginning of their address.
PAGES: Final[Mapping[str, str]] = {
    # The console's scripts evaluate the expressions in its own templates, hence unsafe-eval;
    # without unsafe-inline no script within a page's text runs.
    "/admin/": f"{_OWN}; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'",
    # Swagger UI starts from a script within its page.
    "/v1/docs": f"{_OWN}; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'",
}


class ContentSecurityPolicyMiddleware:
    """Gives every answer the policy of its address."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer, with its policy unless it has one of its own."""
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", policy_of(request.path))
        return response


def policy_of(path: str) -> str:
    """The policy of the page at this path."""
    return next((page for start, page in PAGES.items() if path.startswith(start)), ELSEWHERE)
