"""From probabilities to relations: rules, greedy search, beam search."""
