"""What a browser may load, run, pass on and keep of our pages, by the address of the page."""

from collections.abc import Callable, Mapping
from typing import Final

from django.http import HttpRequest, HttpResponse

#: The console's pages are below this address.
CONSOLE: Final = "/admin/"

_NOWHERE: Final = "frame-ancestors 'none'; base-uri 'none'; object-src 'none'"
_OWN: Final = f"default-src 'self'; img-src 'self' data:; form-action 'self'; {_NOWHERE}"

#: Answers are data, not pages: nothing is loaded for them.
ELSEWHERE: Final = "default-src 'none'; frame-ancestors 'none'"
#: The pages, by the beginning of their address; docs/decisions/0033-eval-in-the-console.md.
PAGES: Final[Mapping[str, str]] = {
    CONSOLE: f"{_OWN}; script-src 'self' 'unsafe-eval'; "
    "style-src 'self'; style-src-attr 'unsafe-inline'",
    "/v1/docs": f"{_OWN}; script-src 'self'; style-src 'self'",
}
#: None of what a browser could lend to a page is of use here.
PERMISSIONS: Final = ", ".join(
    f"{feature}=()"
    for feature in (
        *("accelerometer", "autoplay", "camera", "display-capture", "encrypted-media"),
        *("fullscreen", "geolocation", "gyroscope", "magnetometer", "microphone", "midi"),
        *("payment", "picture-in-picture", "publickey-credentials-get", "screen-wake-lock"),
        *("usb", "xr-spatial-tracking"),
    )
)


class ContentSecurityPolicyMiddleware:
    """Gives every answer the policy of its address, and the console's pages to nobody's memory."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """The answer, with its policy unless it has one of its own."""
        response = self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", policy_of(request.path))
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        # Also for what is answered before Django's own rule has its turn.
        response.headers.setdefault("Referrer-Policy", "same-origin")
        response.headers.setdefault("X-Content-Type-Options", "nosniff")
        if request.path.startswith(CONSOLE):
            # Whoever uses the computer next must not leaf back to it.
            response.headers["Cache-Control"] = "no-store"
        return response


def policy_of(path: str) -> str:
    """The policy of the page at this path."""
    return next((page for start, page in PAGES.items() if path.startswith(start)), ELSEWHERE)
