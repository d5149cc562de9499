"""Measurements of nvmath beside its peers, in one process and one run."""
