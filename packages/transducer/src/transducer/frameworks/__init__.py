"""What each framework needs around the model: before it, and after decoding."""
