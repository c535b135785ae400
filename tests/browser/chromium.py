"""Where the tests get a browser from: CHROMIUM, else installed, else Debian's package."""

import os
import shutil
from pathlib import Path

from tests import debian

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


class NoChromiumError(RuntimeError):
    """This machine has no Chromium and no way to get one."""

    def __str__(self) -> str:
        return (
            "The tests of the console need a Chromium and found none. Name one in CHROMIUM "
            "(/path/to/chromium), or install the package chromium. As root on Debian the tests "
            "install it themselves, which failed or was not possible here."
        )


def program() -> Path:
    """The browser to run; installs it if need be. Raises NoChromiumError."""
    named = os.environ.get("CHROMIUM")
    if named:
        found = shutil.which(named)
        return _there(Path(found) if found else None)
    if not _installed():
        debian.install_if_possible("chromium", _installed)
    return _there(_installed())


def _installed() -> Path | None:
    found = (shutil.which(name) for name in _NAMES)
    return next((Path(path) for path in found if path), None)


def _there(path: Path | None) -> Path:
    if path is None:
        raise NoChromiumError
    return path
