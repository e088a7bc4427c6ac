"""Kokoro in its full size with random weights, exported like the public graphs: for measuring speed and memory
where the published weights are not available. The sound is noise, but it has a realistic length, because durations are
set to the usual pace.

usage: fullsize-kokoro.py FOLDER [VOICE...]    (writes model.onnx, and a random table of styles for each voice)
needs: pip install --no-deps kokoro misaki loguru; pip install torch transformers onnx onnxscript huggingface_hub
"""
import sys
import types
from pathlib import Path

import numpy as np
import torch

for name in ("misaki", "misaki.en", "misaki.espeak"):  # the model needs no text
    sys.modules.setdefault(name, types.ModuleType(name))
sys.modules["misaki"].en = sys.modules["misaki.en"]
sys.modules["misaki"].espeak = sys.modules["misaki.espeak"]
sys.modules["misaki.en"].MToken = object

from kokoro.model import KModel, KModelForONNX  # noqa: E402

# config.json of hexgrad/Kokoro-82M
CONFIG = {
    "istftnet": {
        "upsample_kernel_sizes": [20, 12],
        "upsample_rates": [10, 6],
        "gen_istft_hop_size": 5,
        "gen_istft_n_fft": 20,
        "resblock_dilation_sizes": [[1, 3, 5]] * 3,
        "resblock_kernel_sizes": [3, 7, 11],
        "upsample_initial_channel": 512,
    },
    "dropout": 0.2,
    "hidden_dim": 512,
    "max_dur": 50,
    "n_layer": 3,
    "n_mels": 80,
    "n_token": 178,
    "style_dim": 128,
    "text_encoder_kernel_size": 5,
    "plbert": {
        "hidden_size": 768,
        "num_attention_heads": 12,
        "intermediate_size": 2048,
        "max_position_embeddings": 512,
        "num_hidden_layers": 12,
        "attn_implementation": "eager",
    },
    "vocab": {},
}
UNITS_PER_SYMBOL = 2.75  # of 25 ms


def model():
    load = torch.load
    torch.load = lambda *_, **__: {}  # no weights
    try:
        made = KModel("hexgrad/Kokoro-82M", config=CONFIG, model="none", disable_complex=True).eval()
    finally:
        torch.load = load
    share = UNITS_PER_SYMBOL / CONFIG["max_dur"]
    with torch.no_grad():
        projection = made.predictor.duration_proj.linear_layer
        projection.weight.mul_(0.1)
        projection.bias.fill_(float(np.log(share / (1 - share))))
    return made.requires_grad_(False)


def main():
    torch.manual_seed(0)
    folder = Path(sys.argv[1])
    (folder / "voices").mkdir(parents=True, exist_ok=True)
    ids = torch.LongTensor([[0, *torch.randint(1, 170, (48,)).tolist(), 0]])
    torch.onnx.export(
        KModelForONNX(model()),
        (ids, torch.randn(1, 256) * 0.1, torch.ones(1)),
        str(folder / "model.onnx"),
        input_names=["input_ids", "style", "speed"],
        output_names=["waveform", "duration"],
        dynamic_axes={"input_ids": {1: "length"}, "waveform": {0: "samples"}, "duration": {0: "length"}},
        opset_version=17,
        dynamo=False,
    )
    random = np.random.default_rng(0)
    for voice in sys.argv[2:]:
        (random.standard_normal((510, 1, 256)) * 0.1).astype("<f4").tofile(folder / "voices" / f"{voice}.bin")


main()
