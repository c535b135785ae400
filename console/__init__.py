"""How rows are shown to people: the base of all screens and what their cells are made of.

Knows no other package. A screen lies in the highest package whose rows it shows.
"""
