"""Payments outside of any provider: somebody says that an order was paid, and it is, once."""
