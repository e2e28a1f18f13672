"""Text: sentences and tokens with their character offsets, and annotators."""
