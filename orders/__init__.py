"""What is owed: merchants, orders and their life, expiry, and the merchants' HTTP API."""
