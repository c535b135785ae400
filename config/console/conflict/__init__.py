"""The queue of conflicts and the page of one: what a person sees, and the pages that decide."""
