"""What each day came to, per merchant and currency: counted from events, never from the orders."""
