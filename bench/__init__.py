"""How many callbacks a second become durable, beside what the database alone can commit."""
