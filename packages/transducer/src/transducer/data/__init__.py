"""From examples to batches: vocabularies, numbers, tensors."""
