"""The merchants' HTTP API."""
