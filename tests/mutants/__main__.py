"""Try the mutants, two at once, each in a copy of the tree."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.mutants.mutant import Mutant
from tests.mutants.subjects import chosen

ROOT: Final = Path(__file__).resolve().parent.parent.parent
AT_ONCE: Final = 2
_NOT_COPIED: Final = (".venv", ".git", "var", "__pycache__", ".*_cache", ".hypothesis")
_TESTS_FAILED: Final = 1


@dataclass(frozen=True)
class Result:
    """What the tests said, and how long it took them."""

    name: str
    said: str
    seconds: float
    output: str = ""


def main() -> int:
    """Try the mutants; 0 if every one was noticed."""
    try:
        mutants = chosen(sys.argv[1:])
    except ValueError as error:
        _say(str(error))
        return 2
    # First without any fault: tests that fail anyway notice nothing.
    sound = [Mutant("none", (), mutant.tests) for mutant in mutants]
    sound = list({tuple(mutant.tests): mutant for mutant in sound}.values())
    with ThreadPoolExecutor(AT_ONCE) as pool:
        broken = [each for each in pool.map(_try, sound) if each.said != "survived"]
        for each in broken:
            _say(f"The tests are not sound: {each.output}")
        if broken:
            return 1
        survivors = 0
        for each in pool.map(_try, mutants):
            _say(f"{each.said:>9}  {each.seconds:5.1f} s  {each.name}")
            if each.said != "killed":
                survivors += 1
                _say(each.output)
    _say(f"\n{len(mutants) - survivors} of {len(mutants)} mutants killed.")
    return int(survivors > 0)


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _try(mutant: Mutant) -> Result:
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="paidonce-mutant-") as folder:
        tree = Path(folder) / "tree"
        shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        wrong = mutant.put_into(tree)
        if wrong:
            return Result(mutant.name, "stale", 0, wrong)
        run = subprocess.run(
            [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *mutant.tests],
            cwd=tree,
            env=os.environ | {"ROUNDS": "40"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
    said = {0: "survived", _TESTS_FAILED: "killed"}.get(run.returncode, "no result")
    return Result(mutant.name, said, time.monotonic() - began, run.stdout[-3000:])


if __name__ == "__main__":
    sys.exit(main())
