"""Sentences that the domain tells people: in the language of who reads, in English where kept."""

from typing import Any

from django.utils.translation import gettext as translated


class Sentence(str):
    """A sentence in the language of the request, and the same in English."""

    __slots__ = ("english",)
    english: str


def says(message: str, **named: Any) -> Sentence:
    """A message that `gettext_noop` marks, with what its placeholders name."""
    sentence = Sentence(translated(message) % named)
    kept = {name: in_english(value) for name, value in named.items()}
    sentence.english = message % kept
    return sentence


def in_english(value: Any) -> Any:
    """What is stored, told, or part of a digest: the same whoever reads; no sentence is left."""
    return value.english if isinstance(value, Sentence) else value
