"""How fast events leave: throughput, latency, and how long a backlog takes."""
