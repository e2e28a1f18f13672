"""Pre-trained encoders: where their files are, and networks that read them."""
