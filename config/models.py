"""What the console remembers for the people who work in it."""

from typing import ClassVar

from django.conf import settings
from django.db import models


class SavedView(models.Model):
    """A filter of the conflict queue under a name, for one user."""

    NAME_LENGTH_MAX: ClassVar = 60
    QUERY_LENGTH_MAX: ClassVar = 500

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", db_index=False
    )
    name = models.CharField(max_length=NAME_LENGTH_MAX)
    query = models.CharField(max_length=QUERY_LENGTH_MAX)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "name"], name="saved_view_name_is_unique"),
        ]

    def __str__(self) -> str:
        return self.name
