"""Events to merchants as signed HTTP: Standard Webhooks 1.0.0, https://www.standardwebhooks.com."""
