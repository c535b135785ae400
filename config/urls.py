"""The composition of the service's addresses; here orders learn that payments may wait for them."""

from django.contrib import admin
from django.urls import path

from config import errors

urlpatterns = [
    path("admin/", admin.site.urls),
]
handler400 = errors.bad_request
handler403 = errors.forbidden
handler404 = errors.not_found
handler500 = errors.server_error
