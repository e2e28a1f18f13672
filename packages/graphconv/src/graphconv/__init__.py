"""Lossless AMR, SDP and UCCA <-> arborescence conversion."""
