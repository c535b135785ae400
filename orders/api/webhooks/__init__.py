"""The merchants' calls about their webhook endpoints."""
