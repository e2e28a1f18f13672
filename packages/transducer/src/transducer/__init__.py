"""Text to meaning graphs: the attention-based neural transducer."""
