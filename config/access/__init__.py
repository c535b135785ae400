"""Who works in the console: guesses held back, second factors, sessions, language, time zone."""
