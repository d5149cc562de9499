"""Builds the one C extension; everything else about the package is in pyproject.toml."""

import sys
import sysconfig

from setuptools import Extension, setup

# The free-threaded builds have no stable ABI yet: there the extension is built for one Python version.
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")

SEAM = Extension(
    "nvmath.bindings._seam_c",
    sources=["nvmath/bindings/_seam.c"],
    define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
    py_limited_api=STABLE,
    extra_compile_args=[] if sys.platform == "win32" else ["-O2", "-g0"],
    optional=True,  # without a compiler the ctypes seam serves
)

setup(ext_modules=[SEAM], options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {})
