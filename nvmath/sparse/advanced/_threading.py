"""cuDSS's threading layer: without it the host orders the matrix in one thread, which takes most of the time of a solution."""

from __future__ import annotations

import glob
import os
from functools import cache

from ...bindings import _load
from ._options import DirectSolverOptions


def threading_library(options: DirectSolverOptions) -> str:
    """Return the path of the threading library: that which the caller names, or the one next to cuDSS, or an empty text.

    Raises
    ------
    ValueError
        There is no such file.
    """
    path = options.multithreading_lib or os.environ.get("CUDSS_THREADING_LIB", "")
    if path and not os.path.isfile(path):
        where = (
            "options.multithreading_lib"
            if options.multithreading_lib
            else "the environment variable CUDSS_THREADING_LIB"
        )
        raise ValueError(f"There is no file {path!r}, which {where} names as cuDSS's threading library.")
    return path or _beside(_load.find_library("cudss") or "")


@cache
def _beside(library: str) -> str:
    """Return the threading library of the same version in the folder of cuDSS."""
    folder, name = os.path.split(library)
    if not folder:
        return ""
    _, _, version = name.partition(".so.")
    patterns = (
        f"libcudss_mtlayer_gomp.so.{version}*" if version else "libcudss_mtlayer_gomp.so*",
        "cudss_mtlayer_vcomp*.dll",
    )
    return next(
        (found[0] for pattern in patterns if (found := sorted(glob.glob(os.path.join(glob.escape(folder), pattern))))),
        "",
    )
