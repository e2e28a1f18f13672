"""Sentences in, graphs out: from Python, from files, with scores."""
