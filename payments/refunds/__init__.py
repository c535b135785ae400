"""Money that goes back: refunds that merchants ask for, and all that providers tell of them."""
