"""Who asks for attempts in a merchant's name: as attempts keep it, and as he is told of it."""

from typing import Final

#: How attempts begin to say by whom they were asked for.
WITH_KEY: Final = "API key "
BY_MEMBER: Final = "merchant's user "


def told_to_merchant(asked_by: str) -> str:
    """His own keys and users by name; of our people only that it was one of them."""
    ours = asked_by and not asked_by.startswith((WITH_KEY, BY_MEMBER))
    return "operator" if ours else asked_by
