"""The network of the paper, section by section, and what goes beyond it."""
