"""Conflicts: cases that no rule may decide, handed to a person with both sides of the story.

What opens and answers them is named here; how people and policies decide them is in the modules.
"""

from payments.conflicts.lifecycle import ENTERED_FROM, answered_by_fact
from payments.conflicts.open import DUE_IN, SEVERITY, Case, open_conflict

__all__ = [
    "DUE_IN",
    "ENTERED_FROM",
    "SEVERITY",
    "Case",
    "answered_by_fact",
    "open_conflict",
]
