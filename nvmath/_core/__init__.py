"""Layer 1: what every operation shares, with no knowledge of any domain."""
