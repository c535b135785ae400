"""How commands are given keys: in files or on standard input, never in their arguments."""

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from payments.providers import registry
from payments.providers.port import Key, Misconfigured


def add_material_arguments(parser: CommandParser) -> None:
    """What one key is for, and where it stands."""
    parser.add_argument("--purpose", help="what the key is for, where a provider has several kinds")
    parser.add_argument("--key-file", type=Path, help="where the key is, else standard input")


def key_in_file(written: str) -> Key:
    """The key that ``PURPOSE:KEY_ID:FILE`` names."""
    purpose, _, rest = written.partition(":")
    key_id, _, path = rest.partition(":")
    if not (purpose and key_id and path):
        raise argparse.ArgumentTypeError(f"{written!r} is not PURPOSE:KEY_ID:FILE")
    return Key(key_id, purpose, read_material(Path(path)))


def one_key(provider_name: str, options: Mapping[str, Any]) -> Key:
    """The key that the arguments describe. Raises Misconfigured if its purpose is not clear."""
    provider = registry.find(provider_name)
    purposes = [fact.purpose for fact in provider.facts.keys] if provider else []
    purpose = options["purpose"] or (purposes[0] if len(purposes) == 1 else "")
    if not purpose:
        raise Misconfigured(f"say what the key is for, by --purpose: {', '.join(purposes)}")
    return Key(options["key_id"], purpose, read_material(options["key_file"]))


def read_material(path: Path | None) -> bytes:
    """A file's content, or standard input's, without the line break that `echo` adds."""
    if path is None:
        if sys.stdin.isatty():
            sys.stderr.write("Secret, then Ctrl-D: ")
        return sys.stdin.buffer.read().rstrip(b"\r\n")
    try:
        return path.read_bytes().rstrip(b"\r\n")
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error


def write_private(path: Path, content: bytes) -> None:
    """Write a new file that only its owner reads."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(content)
    except OSError as error:
        raise CommandError(f"{path}: {error.strerror}") from error
