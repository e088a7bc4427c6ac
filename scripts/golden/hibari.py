"""Golden numbers for hibari's vocoder (src/models/hibari/vocoder.ts), from the package's own arithmetic.

The test has the same formulas for the parameters, so that only the sound is stored. Every branch is covered: pitch
that moves and stops, bins that are cut off at e^7, bins that are silent. The reference's noise is switched off.

    pip install hibari-tts==0.2.1 numpy
    python scripts/golden/hibari.py src/models/hibari/vocoder.golden.f32
"""

import sys

import numpy as np
from hibari.dsp import synth

FRAMES = 40
BINS = 601


class Silence:
    """Replaces a generator of random numbers."""

    def standard_normal(self, shape, dtype):
        return np.zeros(shape, dtype)


bins = np.arange(BINS, dtype=np.float64)[:, None]
frames = np.arange(FRAMES, dtype=np.float64)[None, :]
log = (-bins / 100 + np.sin(0.05 * bins + 0.3 * frames)).astype(np.float32)
log[3, 20] = 8
log[500] = -20
turn = (0.8 * np.sin(0.11 * bins - 0.2 * frames)).astype(np.float32)
rest_log = (-3 - bins / 300 + np.cos(0.07 * bins + 0.5 * frames)).astype(np.float32)
rest_phase = (np.pi * np.sin(1.7 * bins + 2.3 * frames)).astype(np.float32)
at = np.arange(FRAMES, dtype=np.float64)
f0 = np.where((at < 5) | ((at > 22) & (at < 26)), 3.0, 140 + 4 * at).astype(np.float32)
silent = np.full((BINS, FRAMES), -60, np.float32)
synth(log, turn, silent, rest_log, rest_phase, f0, Silence()).astype("<f4").tofile(sys.argv[1])
