"""One run at a time on one data folder."""

import fcntl
import os
import time
from pathlib import Path

_WAIT_SECONDS = 20


class AlreadyRunningError(RuntimeError):
    """Another run uses this data folder."""


def claim(path: Path) -> int:
    """Hold this lock file; the answer is the open file that holds it.

    Whoever inherits the open file holds the lock too. So it is free only when the servers that
    write to the data folder have ended, however this process ends. Raises AlreadyRunningError.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    deadline = time.monotonic() + _WAIT_SECONDS
    while not _locked(handle):
        owner = os.pread(handle, 20, 0).decode().strip()
        if (owner and alive(int(owner))) or time.monotonic() > deadline:
            os.close(handle)
            raise AlreadyRunningError(
                f"Another run (process {owner or 'unknown'}) uses the data in {path.parent}. "
                "Stop it first (Ctrl-C in its terminal)."
            )
        time.sleep(0.1)  # It was killed, and its servers are about to end.
    os.ftruncate(handle, 0)
    os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
    return handle


def alive(process: int) -> bool:
    """Whether there is a process of this number."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
