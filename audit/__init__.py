"""Who did what, when, from where and why: append only and chained. It knows nobody."""
