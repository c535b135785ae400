"""Commands for whoever operates the service."""
