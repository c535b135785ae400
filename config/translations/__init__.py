"""What the console says, collected from its code, and kept beside its Chinese."""
