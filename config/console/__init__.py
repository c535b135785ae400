"""The console: one module for each screen, and what screens are made of.

Screens show what the other packages store and change no money; nobody imports them.
"""
