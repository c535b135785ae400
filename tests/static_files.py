"""The static files, looked for once: a test's client would look for all of them before it asks."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from whitenoise.middleware import WhiteNoiseMiddleware


@contextmanager
def found_once() -> Iterator[None]:
    """Have every client of this process know the files that the first one found."""
    find = WhiteNoiseMiddleware.add_files_from_finders
    found: dict[str, Any] = {}

    def add(middleware: WhiteNoiseMiddleware) -> None:
        if not found:
            find(middleware)
            found.update(middleware.files)
        middleware.files.update(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", add)
        yield
