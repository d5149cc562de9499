"""Developer tool: reads the C headers of installed vendor packages, writes rows from them and checks ours.

Run it from the root of the repository, with ``libclang`` installed::

    python -m tools.bindgen check            # every library whose headers or files are installed
    python -m tools.bindgen check cufft
    python -m tools.bindgen write nvrtc      # draft rows and enums, to be read and edited
"""
