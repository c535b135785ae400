"""The points at which the campaign against the relay strikes."""

FAULTS = [
    *("before claim", "after claim", "before publish", "after publish", "before mark"),
    *("after mark", "pause before publish", "pause before mark"),
]
