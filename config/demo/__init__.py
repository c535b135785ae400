"""A shop to try the service with: a merchant, a pretend provider, and what can happen to money."""
