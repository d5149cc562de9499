# needs: nothing
"""Logging: through the root logger, or a logger of one's own in the options."""

import io
import logging

import numpy as np

from nvmath.fft import FFT, FFTOptions

a = np.ones((4, 256), dtype="complex128")

# The library installs no handler and sets no level: that is for the application.
logging.basicConfig(level=logging.INFO, format="root: %(message)s")
with FFT(a, axes=[1]) as transform:
    transform.plan()
    transform.execute()

logger = logging.getLogger("spectra")
text = io.StringIO()
handler = logging.StreamHandler(text)
handler.setFormatter(logging.Formatter("%(name)s %(levelname)s %(message)s"))
logger.addHandler(handler)
logger.propagate = False
with FFT(a, axes=[1], options=FFTOptions(logger=logger)) as transform:
    transform.plan()
    transform.execute()
assert "spectra INFO" in text.getvalue()
print(text.getvalue())
