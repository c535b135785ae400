"""Who hears the events: what brings them, what becomes of each, and the loop around both."""
