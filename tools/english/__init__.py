"""A small grammar of English that writes a sentence together with its AMR, DM and UCCA graphs."""
