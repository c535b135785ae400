"""The commands of the Makefile, on machines that lack something."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.processes import ROOT

_TOOLS = ("sh", "awk", "env", "touch", "rm", "make")


def _make(target: str, path: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["make", "--no-print-directory", target],
        cwd=cwd,
        env={"PATH": str(path), "HOME": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    """A PATH with make, a shell and little else."""
    path = tmp_path / "bin"
    path.mkdir()
    for tool in _TOOLS:
        found = shutil.which(tool)
        assert found
        (path / tool).symlink_to(found)
    return path


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "checkout"
    folder.mkdir()
    shutil.copy(ROOT / "Makefile", folder)
    for name in ("requirements.txt", "requirements-dev.txt"):
        (folder / name).touch()
    return folder


def _program(path: Path, script: str) -> None:
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def test_help_lists_every_target_with_its_meaning() -> None:
    shown = _make("help", Path(os.environ["PATH"]), ROOT).stdout
    for target in ("run", "demo", "setup", "test", "check", "lint", "format", "bench", "clean"):
        assert f"  make {target} " in shown


def test_a_machine_without_python_is_told_what_is_missing(bare: Path, checkout: Path) -> None:
    # Version managers put stubs on PATH that only complain.
    _program(bare / "python3.13", "echo not installed >&2; exit 127")
    _program(bare / "python3", "exit 1")
    made = _make("setup", bare, checkout)
    assert made.returncode != 0
    assert made.stderr.splitlines()[0] == (
        "Python 3.11 or newer is needed and none was found. Install it, or name one: "
        "make PYTHON3=/path/to/python3"
    )


def test_a_python_without_venv_is_told_how_to_get_it(bare: Path, checkout: Path) -> None:
    _program(bare / "python3", 'case "$2" in *venv*) exit 1;; esac')
    made = _make("setup", bare, checkout)
    assert made.returncode != 0
    assert made.stderr.splitlines()[0] == (
        "python3 has no venv module. On Debian and Ubuntu: apt-get install python3-venv"
    )


def test_what_is_installed_is_not_installed_again(bare: Path, checkout: Path) -> None:
    (checkout / ".venv").mkdir()
    for stamp in (".made", ".runtime", ".dev"):
        (checkout / ".venv" / stamp).touch()
    made = _make("setup", bare, checkout)
    assert (made.returncode, made.stderr) == (0, "")
