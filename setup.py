"""Builds the one C extension and the type stubs of the bindings; everything else about the package is in pyproject.toml."""

import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

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


class BuildWithStubs(build_py):
    """Writes the stubs beside the modules that are built: they come from the same rows."""

    def run(self) -> None:
        super().run()
        if self.editable_mode:
            return
        sys.path.insert(0, str(Path(__file__).parent))
        from tools.bindgen.stubs import write

        write(Path(self.build_lib, "nvmath", "bindings"))


setup(
    ext_modules=[SEAM],
    cmdclass={"build_py": BuildWithStubs},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
