"""Reference for Parakeet: onnx-asr itself on the small models, and NeMo's features in double precision.

usage: parakeet.py MODEL... -- CLIP...
  MODEL: a folder with encoder-model.onnx, decoder_joint-model.onnx, vocab.txt and config.json
  CLIP: raw signed 16-bit mono, 16 kHz
prints JSON: for each clip and each model its output, and a few frames of features.
needs: pip install numpy onnxruntime onnx-asr
"""
import json
import os
import sys
import numpy as np
import onnx_asr


def mel_filters(bands, sample_rate=16000, fft=512):
    """Slaney's scale and areas, in double precision (librosa.filters.mel, which NeMo uses, rounds to single)."""
    step = np.log(6.4) / 27
    to_mel = lambda hz: hz * 3 / 200 if hz < 1000 else 15 + np.log(hz / 1000) / step
    edges = np.linspace(0, to_mel(sample_rate / 2), bands + 2)
    edges = np.where(edges < 15, edges * 200 / 3, 1000 * np.exp((edges - 15) * step))
    hz = np.arange(fft // 2 + 1) * sample_rate / fft
    low, mid, high = edges[:-2, None], edges[1:-1, None], edges[2:, None]
    triangles = np.minimum((hz - low) / (mid - low), (high - hz) / (high - mid))
    return np.maximum(triangles, 0) * 2 / (high - low)


def features(pcm, bands):
    """NeMo's FilterbankFeatures with the settings of the published models: no dither, each band normalised."""
    pcm = pcm.astype(np.float64)
    frames = len(pcm) // 160
    sharpened = pcm - 0.97 * np.concatenate([[0], pcm[:-1]])
    spans = np.lib.stride_tricks.sliding_window_view(np.pad(sharpened, 256), 512)[::160][:frames]
    power = np.abs(np.fft.rfft(spans * np.pad(np.hanning(400), 56))) ** 2
    level = np.log(mel_filters(bands) @ power.T + 2.0**-24)
    return (level - level.mean(1, keepdims=True)) / (level.std(1, ddof=1, keepdims=True) + 1e-5)


divide = sys.argv.index("--")
models = sys.argv[1:divide]
recognisers = {}
for folder in models:
    vocabulary = [line.split(" ")[0].replace("▁", " ") for line in open(os.path.join(folder, "vocab.txt"), encoding="utf-8")]
    model = onnx_asr.load_model("nemo-conformer-tdt", folder).with_timestamps()
    recognisers[os.path.basename(folder)] = (model, vocabulary)
answers = {}
for clip in sys.argv[divide + 1 :]:
    pcm = np.fromfile(clip, dtype="<i2").astype(np.float32) / 32768
    said = {}
    for name, (model, vocabulary) in recognisers.items():
        result = model.recognize(pcm)
        said[name] = {
            "tokens": [vocabulary.index(token) for token in result.tokens],
            "frames": [round(seconds / 0.08) for seconds in result.timestamps],
            "meanLogprob": round(float(np.mean(result.logprobs)), 5) if result.logprobs else 0,
            "text": result.text,
        }
    whole = features(pcm, 128)
    taken = [whole.shape[1] // 5, whole.shape[1] - 1]
    spots = {str(frame): [round(float(value), 5) for value in whole[:, frame]] for frame in taken}
    answers[os.path.basename(clip)] = {"models": said, "features": spots}
json.dump(answers, sys.stdout, ensure_ascii=False)
