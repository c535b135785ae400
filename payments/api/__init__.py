"""The merchants' calls about money that goes back."""
