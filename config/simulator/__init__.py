"""A payment provider to try things with: it moves no money and keeps books of its own."""
