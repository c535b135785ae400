"""Files that only their owner may read."""

import os
import secrets
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Put this text there, whole or not at all."""
    unfinished = path.with_name(f"{path.name}.unfinished")
    unfinished.unlink(missing_ok=True)
    handle = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)


def kept_password(path: Path) -> str:
    """The password in this file, made on the first occasion."""
    if not path.exists():
        write(path, secrets.token_urlsafe(32))
    return path.read_text()
