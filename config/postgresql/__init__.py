"""Django's PostgreSQL backend, with one promise more: a commit that returns is replicated."""
