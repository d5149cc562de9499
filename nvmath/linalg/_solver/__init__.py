"""Dense systems of linear equations: what is behind ``nvmath.linalg.DirectSolver``."""
