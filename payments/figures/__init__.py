"""What is going on, in figures for people who look: each read at a bounded cost."""
