"""At most one run on this machine, so that slow endpoints occupy one slot of the worker at most."""

import fcntl
import hashlib
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connection


@contextmanager
def only_run() -> Iterator[bool]:
    """Whether nobody else of this installation is within it; the lock ends with its process."""
    at = connection.settings_dict
    which = hashlib.sha256(f"{at['HOST']}:{at['PORT']}/{at['NAME']}".encode()).hexdigest()[:12]
    path = Path(tempfile.gettempdir()) / f"paidonce-webhooks-{os.getuid()}-{which}.lock"
    with path.open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
