"""The record of an intent: may it run, is it running, what did it answer."""
