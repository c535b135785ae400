"""The composition root as an application: its commands start and show the whole service."""

from django.apps import AppConfig


class Config(AppConfig):
    """Carries the commands `up`, `welcome`, `demo` and `states`."""

    name = "config"
