"""What a merchant lets rules decide: validated, versioned, approved, tried out, and applied."""
