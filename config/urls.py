"""The composition of the service's addresses; here orders learn that payments may wait for them."""

from django.contrib import admin
from django.urls import include, path

from config.access import passwords
from config.console import evidence_pages, find
from orders.api.urls import urlpatterns as order_urls
from payments import placing

urlpatterns = [
    path("", include("payments.urls")),
    path("v1/", include("payments.api.urls")),
    path("v1/", include(order_urls(on_placed=placing.on_placed))),
    path("admin/me/", include("config.access.urls")),
    path("admin/find/", admin.site.admin_view(find.view), name="console_find"),
    path(
        "admin/evidence/<str:kind>/<int:pk>/",
        admin.site.admin_view(evidence_pages.view),
        name="console_evidence",
    ),
    # In the place of the admin's own page of that name.
    path("admin/password_change/", admin.site.admin_view(passwords.change), name="password_change"),
    path("admin/", admin.site.urls),
]
handler400 = "config.errors.bad_request"
handler403 = "config.errors.forbidden"
handler404 = "config.errors.not_found"
handler500 = "config.errors.server_error"
