"""How a voice sounds and whose it is. One request a line on stdin, one answer a line on stdout, as JSON.

sound.py WEIGHTS [DNSMOS]   {"paths": [...]} -> {"embedding": [256 numbers], "ovr": number or null, "windows": [numbers]}

The sounds are heard one after another as one. WEIGHTS is `pretrained.pt` of the package Resemblyzer 0.1.4 (Apache-2.0),
computed here without torch, by its own formulas. DNSMOS is the graph of P.835: the mean over whole windows of nine
seconds.
needs: numpy soundfile soxr webrtcvad-wheels onnxruntime
"""
import collections
import json
import os
import pickle
import sys

# The products are small: a second thread waits 25 times as long as it computes.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
import numpy as np
import soundfile
import soxr
import webrtcvad

RATE = 16000
# DNSMOS hears nine seconds.
JUDGED_SAMPLES = 144160
BITS = 32767


class Weights(pickle.Unpickler):
    """The old file format of torch: pickles, then the numbers. Nothing but tensors is made of them."""

    def __init__(self, file):
        super().__init__(file)
        self.waiting = {}

    def persistent_load(self, saved):
        _, _, key, _, count, _ = saved
        return self.waiting.setdefault(key, {"count": count})

    def find_class(self, module, name):
        if name == "_rebuild_tensor_v2":
            return lambda storage, offset, size, *_: (storage, offset, size)
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        return name


def weights_of(path):
    with open(path, "rb") as file:
        for _ in range(3):
            pickle.load(file)
        reader = Weights(file)
        state = reader.load()["model_state"]
        for key in pickle.load(file):
            count = np.frombuffer(file.read(8), "<i8")[0]
            numbers = np.frombuffer(file.read(4 * count), "<f4")
            if key in reader.waiting:
                reader.waiting[key]["numbers"] = numbers
    return {name: storage["numbers"][offset:offset + int(np.prod(size))].reshape(size)
            for name, (storage, offset, size) in state.items()}


def at_rate(path):
    pcm, rate = soundfile.read(path, dtype="float32", always_2d=True)
    return soxr.resample(pcm.mean(axis=1), rate, RATE)


def mel_bands(bands=40, size=400):
    """Slaney's scale, each band of the same area."""
    step = np.log(6.4) / 27
    place = lambda hz: np.where(hz < 1000, hz * 3 / 200, 15 + np.log(np.maximum(hz, 1e-9) / 1000) / step)
    hz_of = lambda at: np.where(at < 15, at * 200 / 3, 1000 * np.exp(step * (at - 15)))
    edges = hz_of(np.linspace(0, place(np.array(RATE / 2)), bands + 2))
    width = np.diff(edges)
    ramps = edges[:, None] - np.arange(size // 2 + 1) * RATE / size
    weights = np.maximum(0, np.minimum(-ramps[:-2] / width[:-1, None], ramps[2:] / width[1:, None]))
    return (weights * (2 / (edges[2:] - edges[:-2]))[:, None]).astype(np.float32)


MEL = mel_bands()
HANN = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(400) / 400)).astype(np.float32)


def mels(pcm):
    frames = np.lib.stride_tricks.sliding_window_view(np.pad(pcm, 200), 400)[::160] * HANN
    return (np.abs(np.fft.rfft(frames, axis=1)) ** 2).astype(np.float32) @ MEL.T


def voiced(pcm):
    """At -30 dB at least, without long silences."""
    level = 20 * np.log10(np.sqrt(np.mean((pcm * BITS) ** 2)) / BITS)
    pcm = pcm * 10 ** (max(0, -30 - level) / 20)
    size = 480
    pcm = pcm[:len(pcm) // size * size]
    samples = np.round(np.clip(pcm, -1, 1) * BITS).astype("<i2")
    detector = webrtcvad.Vad(3)
    flags = np.array([detector.is_speech(samples[at:at + size].tobytes(), RATE) for at in range(0, len(pcm), size)], float)
    mean = np.convolve(np.concatenate([np.zeros(3), flags, np.zeros(4)]), np.ones(8) / 8, "valid")
    speech = np.round(mean).astype(bool)
    near = np.convolve(speech, np.ones(7), "same") > 0
    return pcm[np.repeat(near, size)]


class Encoder:
    def __init__(self, path):
        self.weights = weights_of(path)

    def lstm(self, windows, layer):
        part = lambda name: self.weights[f"lstm.{name}_l{layer}"]
        inner, rest = part("weight_hh").T, part("bias_ih") + part("bias_hh")
        inputs = windows @ part("weight_ih").T + rest
        hidden = cell = np.zeros((len(windows), 256), np.float32)
        found = np.empty((*windows.shape[:2], 256), np.float32)
        sigmoid = lambda x: 0.5 + 0.5 * np.tanh(0.5 * x)
        for at in range(windows.shape[1]):
            enter, forget, new, leave = np.split(inputs[:, at] + hidden @ inner, 4, axis=1)
            cell = sigmoid(forget) * cell + sigmoid(enter) * np.tanh(new)
            hidden = sigmoid(leave) * np.tanh(cell)
            found[:, at] = hidden
        return found

    def embed(self, pcm):
        pcm = voiced(pcm)
        step = int(np.round(RATE / 1.3 / 160))
        frames = int(np.ceil((len(pcm) + 1) / 160))
        starts = list(range(0, max(1, frames - 160 + step + 1), step))
        if len(starts) > 1 and (len(pcm) - starts[-1] * 160) / 25600 < 0.75:
            starts.pop()
        whole = mels(np.pad(pcm, (0, max(0, (starts[-1] + 160) * 160 - len(pcm)))))
        windows = np.stack([whole[start:start + 160] for start in starts])
        for layer in range(3):
            windows = self.lstm(windows, layer)
        unit = lambda rows: rows / np.linalg.norm(rows, axis=-1, keepdims=True)
        found = np.maximum(0, windows[:, -1] @ self.weights["linear.weight"].T + self.weights["linear.bias"])
        return unit(unit(found).mean(axis=0))


def quality(session, pcm):
    if len(pcm) < JUDGED_SAMPLES:
        pcm = np.tile(pcm, JUDGED_SAMPLES // len(pcm) + 1)
    windows = [pcm[at:at + JUDGED_SAMPLES] for at in range(0, len(pcm) - JUDGED_SAMPLES + 1, JUDGED_SAMPLES)]
    return [float(session.run(None, {"input_1": one[None].astype(np.float32)})[0][0][2]) for one in windows]


def session_of(graph):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(graph, options)


if __name__ == "__main__":
    encoder = Encoder(sys.argv[1])
    session = session_of(sys.argv[2]) if len(sys.argv) > 2 else None
    for line in sys.stdin:
        pcm = np.concatenate([at_rate(path) for path in json.loads(line)["paths"]])
        windows = [] if session is None else quality(session, pcm)
        answer = {"embedding": [float(value) for value in encoder.embed(pcm)],
                  "ovr": float(np.mean(windows)) if windows else None, "windows": windows}
        print(json.dumps(answer), flush=True)
