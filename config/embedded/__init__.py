"""PostgreSQL and Valkey as child processes, for a machine that has neither.

Nothing here imports Django: the servers must answer before the settings are read.
"""
