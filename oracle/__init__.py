"""Fresh random callbacks, signed and judged by other people's code: `make oracle`."""
