"""A program started so that it cannot outlive the process that started it.

Run as a file of its own (`python -I -S launch.py ...`) it changes the user where asked, arranges
for a signal when its parent dies (Linux; other systems have no such thing), and becomes the
program. The order matters: the kernel forgets that arrangement when the user changes.
"""

import argparse
import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

_PR_SET_PDEATHSIG = 1
_CLONE_NEWUSER = 0x10000000


@dataclass(frozen=True)
class RunAs:
    """The user a program runs as: by giving up root, or inside a user namespace of its own."""

    uid: int
    gid: int
    namespace: bool


def start(
    command: Sequence[str | Path],
    *,
    on_parent_death: signal.Signals = signal.SIGTERM,
    run_as: RunAs | None = None,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    output: int | IO[bytes] | None = None,
    held: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a program in a session of its own, bound to the life of the calling thread.

    The kernel watches the thread and not the process: call it from one that lives as long as the
    program shall, best the main thread. Standard input is empty, errors go with the output, and
    the open files in `held` stay open in it.
    """
    wrapper = [sys.executable, "-I", "-S", __file__, "--parent", str(os.getpid())]
    wrapper += ["--signal", str(int(on_parent_death))]
    if run_as is not None:
        user = f"{run_as.uid}:{run_as.gid}"
        wrapper += ["--namespace-user" if run_as.namespace else "--user", user]
    return subprocess.Popen(
        [*wrapper, "--", *map(str, command)],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.STDOUT if output is not None else None,
        env=env,
        cwd=cwd,
        start_new_session=True,
        pass_fds=held,
    )


def main() -> None:
    """Become the program that the arguments name."""
    options = _options()
    if options.namespace_user:
        _enter_namespace(*_ids(options.namespace_user))
    elif options.user:
        uid, gid = _ids(options.user)
        os.setgroups([])
        os.setgid(gid)
        os.setuid(uid)
    if sys.platform == "linux":
        _libc().prctl(_PR_SET_PDEATHSIG, options.signal, 0, 0, 0)
        if os.getppid() != options.parent:
            sys.exit("The parent process has died already.")
    os.execvp(options.command[0], options.command)  # noqa: S606


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--parent", type=int, required=True)
    parser.add_argument("--signal", type=int, required=True)
    parser.add_argument("--user")
    parser.add_argument("--namespace-user")
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def _ids(text: str) -> tuple[int, int]:
    uid, _, gid = text.partition(":")
    return int(uid), int(gid)


def _enter_namespace(uid: int, gid: int) -> None:
    """Be this user inside, while files and processes outside still see the one who started it."""
    outer_uid, outer_gid = os.geteuid(), os.getegid()
    if _libc().unshare(_CLONE_NEWUSER) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"unshare: {os.strerror(number)}")
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {outer_uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {outer_gid} 1")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


if __name__ == "__main__":
    main()
