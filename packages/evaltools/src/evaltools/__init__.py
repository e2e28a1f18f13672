"""Exact Smatch, SDP and UCCA scores that can be quoted."""
