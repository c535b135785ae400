"""Numbers of rows, as addresses and forms bring them."""

from typing import Final

from django.core.exceptions import BadRequest

#: Every number of so many digits is one that a column can be compared with.
_DIGITS_MAX: Final = 18


def row_id(written: str) -> int:
    """The number. Raises BadRequest for anything else."""
    if not is_one(written):
        raise BadRequest
    return int(written)


def is_one(written: str) -> bool:
    """Whether it is the number of a row, in ASCII digits alone."""
    return written.isascii() and written.isdigit() and len(written) <= _DIGITS_MAX
