"""The addresses of the pages about oneself."""

from django.contrib import admin
from django.urls import path

from config.access import codes, resets, views

app_name = "access"
urlpatterns = [
    # Also before the login.
    path("language/", views.language, name="language"),
    path("preferences/", admin.site.admin_view(views.prefer), name="preferences"),
    path("code/", admin.site.admin_view(codes.ask), name="second_factor"),
    path("enrol/", admin.site.admin_view(codes.enrol), name="enrol"),
    path("second-factor/", admin.site.admin_view(codes.mine), name="mine"),
    path("<int:user_id>/reset/", admin.site.admin_view(resets.reset), name="reset"),
]
