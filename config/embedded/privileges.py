"""Which user PostgreSQL may run as: it refuses to be root."""

import functools
import os
import pwd
import shutil
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from config.embedded.launch import RunAs

_HOMELESS_DATA = Path("/var/lib/paidonce")


class NoUserError(RuntimeError):
    """This process has a user number that the system does not know, and PostgreSQL needs a name."""


def user_for_postgres() -> RunAs | None:
    """The user to run PostgreSQL as; None means as the user who runs this.

    Root becomes another user in a namespace of its own where the kernel allows that: the files stay
    root's and every folder stays readable. Elsewhere root is given up for `nobody`.
    """
    if os.geteuid() != 0:
        try:
            pwd.getpwuid(os.geteuid())
        except KeyError:
            raise NoUserError(
                f"The user id {os.geteuid()} has no entry in /etc/passwd, and PostgreSQL will not "
                "start without one. Give the address of a PostgreSQL server in DATABASE_URL "
                "instead."
            ) from None
        return None
    nobody = pwd.getpwnam("nobody")
    return RunAs(nobody.pw_uid, nobody.pw_gid, namespace=namespaces_work())


@functools.cache
def namespaces_work() -> bool:
    """Whether this kernel lets this user make a user namespace."""
    if sys.platform != "linux":
        return False
    nobody = pwd.getpwnam("nobody")
    launch = Path(__file__).with_name("launch.py")
    tried = subprocess.run(
        [
            *(sys.executable, "-I", "-S", str(launch), "--parent", str(os.getpid())),
            *("--signal", "15", "--namespace-user", f"{nobody.pw_uid}:{nobody.pw_gid}"),
            *("--", "true"),
        ],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    return tried.returncode == 0


def give(folder: Path, run_as: RunAs | None) -> Path:
    """Make a private folder that PostgreSQL's user owns; the answer is where it really is.

    Where that user cannot reach the place (below /root, say), the folder is made in /var/lib and a
    link takes its place.
    """
    if run_as is None or run_as.namespace:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return folder
    if not folder.exists() and not reachable(folder.parent, run_as):
        digest = sha256(str(folder.absolute()).encode()).hexdigest()[:12]
        elsewhere = _HOMELESS_DATA / digest
        elsewhere.mkdir(parents=True, exist_ok=True)
        folder.parent.mkdir(parents=True, exist_ok=True)
        folder.symlink_to(elsewhere)
    folder.mkdir(parents=True, exist_ok=True)
    real = folder.resolve()
    if real.stat().st_uid != run_as.uid:
        for path in [real, *real.rglob("*")]:
            os.chown(path, run_as.uid, run_as.gid, follow_symlinks=False)
    real.chmod(0o700)
    return real


def readable_copy(binaries: Path, run_as: RunAs | None) -> Path:
    """The folder of PostgreSQL's programs, copied to where its user can read it if it cannot."""
    if run_as is None or run_as.namespace or reachable(binaries, run_as):
        return binaries
    # bin/ lives in an installation, and that beside the folder of the libraries it brings along.
    installation = binaries.parent
    package = installation.parent
    digest = sha256(f"{installation}{installation.stat().st_mtime_ns}".encode()).hexdigest()[:12]
    copy = _HOMELESS_DATA / f"programs-{digest}"
    if not (copy / "complete").exists():
        shutil.copytree(
            installation, copy / package.name / installation.name, symlinks=True, dirs_exist_ok=True
        )
        libraries = package.with_name(f"{package.name}.libs")
        if libraries.exists():
            shutil.copytree(libraries, copy / libraries.name, dirs_exist_ok=True)
        (copy / "complete").touch()
    return copy / package.name / installation.name / binaries.name


def reachable(path: Path, run_as: RunAs) -> bool:
    """Whether another user may enter this folder, judged by the bits of it and all above it."""
    for folder in [path.resolve(), *path.resolve().parents]:
        if not folder.exists():
            continue
        state = folder.stat()
        if state.st_uid == run_as.uid:
            allowed = state.st_mode & 0o100
        elif state.st_gid == run_as.gid:
            allowed = state.st_mode & 0o010
        else:
            allowed = state.st_mode & 0o001
        if not allowed:
            return False
    return True
