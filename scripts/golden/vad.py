"""Reference for the speech detector: the same graph, run by Python's onnxruntime as in Silero's own wrapper.

usage: vad.py GRAPH SAMPLES    (SAMPLES: raw signed 16-bit mono, 16 kHz); prints one probability a line
needs: pip install numpy onnxruntime
"""
import sys
import numpy as np
import onnxruntime

session = onnxruntime.InferenceSession(sys.argv[1], providers=["CPUExecutionProvider"])
samples = np.fromfile(sys.argv[2], dtype="<i2").astype(np.float32) / 32768
samples = np.pad(samples, (0, -len(samples) % 512))
state = np.zeros((2, 1, 128), dtype=np.float32)
context = np.zeros((1, 64), dtype=np.float32)
for window in samples.reshape(-1, 1, 512):
    x = np.concatenate([context, window], axis=1)
    output, state = session.run(None, {"input": x, "state": state, "sr": np.array(16000, dtype=np.int64)})
    context = x[:, -64:]
    print(f"{output[0, 0]:.6f}")
