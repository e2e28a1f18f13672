"""Exact Smatch, SDP and UCCA scores."""
