# needs: library:cublasLt
"""What a library logs goes to a Python function, here to the logging module."""

import logging

from nvmath.bindings import cublas, cublasLt

logging.basicConfig(level=logging.INFO, format="%(name)s: %(message)s")
log = logging.getLogger("cublasLt")
seen = []


def to_logging(level, function, message):
    """Called by the library, from any thread; an exception here does not stop it."""
    seen.append(function)
    log.info("%s: %s", function, message)


cublasLt.logger_set_callback(to_logging)
cublasLt.logger_set_level(5)
cublasLt.matmul_desc_destroy(cublasLt.matmul_desc_create(cublas.ComputeType.COMPUTE_32F, 0))
cublasLt.logger_set_callback(None)
cublasLt.logger_set_level(0)
assert seen[:2] == ["cublasLtMatmulDescCreate", "cublasLtMatmulDescDestroy"]
print(f"{len(seen)} calls were logged")
