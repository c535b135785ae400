"""How many races were run and how many processes were killed: shown at the end of a test run."""

from collections import Counter

tally: Counter[str] = Counter()
