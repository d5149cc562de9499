"""Builds the two small C extensions and the type stubs of the bindings; everything else about the package is in pyproject.toml."""

import sys
import sysconfig
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_py import build_py

# The free-threaded builds have no stable ABI yet: there the extension is built for one Python version.
STABLE = not sysconfig.get_config_var("Py_GIL_DISABLED")

def extension(name: str) -> Extension:
    """A C extension without which the package works too, only slower: ctypes or plain Python serve where there is no compiler."""
    return Extension(
        name,
        sources=[f"{name.removesuffix('_c').replace('.', '/')}.c"],
        define_macros=[("Py_LIMITED_API", "0x030B0000")] if STABLE else [],
        py_limited_api=STABLE,
        extra_compile_args=[] if sys.platform == "win32" else ["-O2", "-g0"],
        optional=True,
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
    ext_modules=[extension("nvmath.bindings._seam_c"), extension("nvmath._core.arrays._exchange_c")],
    cmdclass={"build_py": BuildWithStubs},
    options={"bdist_wheel": {"py_limited_api": "cp311"}} if STABLE else {},
)
