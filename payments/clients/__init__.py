"""Asking a provider's API: one narrow port, one module for each provider."""
