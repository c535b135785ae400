"""One script per SDK, each run in an environment that has it and knows nothing of the product."""
