"""The whole service on one machine: `manage.py up`."""
