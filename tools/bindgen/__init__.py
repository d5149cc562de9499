"""Developer tool: reads the C headers of vendor packages, writes the rows of the bindings from them, and checks the rows.

Run it from the root of the repository, with ``libclang`` installed::

    python -m tools.bindgen check                 # every library whose headers or files are installed
    python -m tools.bindgen check cufft
    python -m tools.bindgen write cufft           # rewrites the tables in the module; prints what it cannot write
    python -m tools.bindgen stubs FOLDER          # type stubs (needs no libclang)

``NVMATH_BINDGEN_PACKAGES`` names folders into which wheels were unpacked, oldest first, one per version; without it the
installed packages are read. `targets` has one entry for each library; `write` keeps the rows that are there while they fit the
headers, so a type that was changed by hand stays.
"""
