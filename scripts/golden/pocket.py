"""Makes the reference for src/models/pocket/parity.test.ts: a small Pocket TTS with random weights as five ONNX graphs,
and the output of Kyutai's own package, chunk by chunk, with the same weights and the same noise.

    pip install torch onnx onnxscript numpy sentencepiece safetensors scipy pyyaml pydantic beartype huggingface_hub \\
        requests pocket-tts==2.1.0
    python scripts/golden/pocket.py src/models/pocket

2.1.0 is the version that the exports of 2026-04 were made from.
"""
import base64
import gzip
import importlib.util
import io
import json
import math
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
import safetensors.torch
import sentencepiece
import torch
import yaml

warnings.filterwarnings("ignore")
root = Path(__file__).parent.parent.parent


def sibling(name):
    spec = importlib.util.spec_from_file_location(name.replace("-", "_"), Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


graphs = sibling("pocket-graphs")

SIZE = graphs.Size(
    layers=2, width=16, heads=2, latent=4, flow_width=8, flow_depth=2, tokens=420, positions=160, codec_width=8,
    codec_filters=4, codec_heads=2, codec_hidden=16, codec_context=100, codec_positions=400,
)
GUARD = 6
SEED = 25
EOS_BIAS = -6.0
TEXTS = [
    "Hello.",
    "The birds in the old garden learn every song they hear. They sing it again in the morning.",
    "It was a cold day in early spring. The children ran outside at once. Was there still snow on the hills? Nobody "
    "knew. They climbed up the path and looked around.",
]


def tokenizer():
    """For a text that stays unchanged."""
    lines = [line.strip() for line in (root / "LICENSE").read_text().split("\n") if len(line) > 20]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines + TEXTS + ["Is it? Yes; no: wait! Go, now... Quick brown foxes jump over 1234567890 lazy dogs."]), model_writer=model,
        model_type="unigram", vocab_size=SIZE.tokens, byte_fallback=True, normalization_rule_name="identity",
        minloglevel=2, num_threads=1, character_coverage=1.0 - 1e-4,
    )
    return model.getvalue()


def config(folder):
    """The package's own description of the small model."""
    description = {
        "flow_lm": {
            "dtype": "float32", "insert_bos_before_voice": True, "flow": {"dim": SIZE.flow_width, "depth": SIZE.flow_depth},
            "transformer": {"hidden_scale": 4, "max_period": 10000, "d_model": SIZE.width, "num_heads": SIZE.heads, "num_layers": SIZE.layers},
            "lookup_table": {"dim": SIZE.width, "n_bins": SIZE.tokens, "tokenizer": "sentencepiece", "tokenizer_path": str(folder / "tokenizer.model")},
        },
        "mimi": {
            "dtype": "float32", "sample_rate": 24000, "channels": 1, "frame_rate": 12.5, "inner_dim": SIZE.latent, "outer_dim": SIZE.codec_width,
            "seanet": {
                "dimension": SIZE.codec_width, "channels": 1, "n_filters": SIZE.codec_filters, "n_residual_layers": 1, "ratios": list(SIZE.ratios),
                "kernel_size": 7, "residual_kernel_size": 3, "last_kernel_size": 3, "dilation_base": 2, "pad_mode": "constant", "compress": 2,
            },
            "transformer": {
                "d_model": SIZE.codec_width, "input_dimension": SIZE.codec_width, "output_dimensions": [SIZE.codec_width],
                "num_heads": SIZE.codec_heads, "num_layers": SIZE.codec_layers, "layer_scale": 0.01, "context": SIZE.codec_context,
                "dim_feedforward": SIZE.codec_hidden,
            },
            "quantizer": {"dimension": SIZE.latent, "output_dimension": SIZE.codec_width},
        },
    }
    path = folder / "small.yaml"
    path.write_text(yaml.safe_dump(description))
    return path


class Noise:
    """Numbers without a generator: the sine of a step, as in the test."""

    def __init__(self):
        self.at = 0

    def __call__(self, tensor, mean=0.0, std=1.0):
        count = tensor.numel()
        values = [1.7 * math.sin(12.9898 * (self.at + i)) for i in range(count)]
        self.at += count
        return tensor.copy_(torch.tensor(np.array(values, np.float32)).view(tensor.shape) * std)


def watched(model, guard, after, noise):
    """Records each frame, and does not let the model finish before the guard, as in later versions of the package. Of the
    noise only what goes into a frame that is heard counts: the package also draws some for texts and for the last step.
    """
    noted = {"latents": [], "eos": [], "tokens": []}
    run = model._run_flow_lm_and_increment_step
    heard = 0

    def step(model_state, text_tokens=None, backbone_input_latents=None, audio_conditioning=None):
        nonlocal heard
        if text_tokens is not None and noted["eos"]:
            heard += len(noted["latents"][-1]) if noted["eos"][-1] is None else noted["eos"][-1] + after
        if backbone_input_latents is not None:
            noise.at = (heard + len(noted["latents"][-1])) * SIZE.latent
        latent, is_eos = run(model_state, text_tokens, backbone_input_latents, audio_conditioning)
        if text_tokens is not None:
            noted["tokens"].append(text_tokens[0].tolist())
            noted["latents"].append([])
            noted["eos"].append(None)
        elif backbone_input_latents is not None:
            frame = len(noted["latents"][-1])
            if frame < guard:
                is_eos = torch.zeros_like(is_eos)
            if is_eos.item() and noted["eos"][-1] is None:
                noted["eos"][-1] = frame
            noted["latents"][-1].append(latent.flatten().tolist())
        return latent, is_eos

    model._run_flow_lm_and_increment_step = step
    return noted, lambda: setattr(model, "_run_flow_lm_and_increment_step", run)


def packed(values):
    return base64.b64encode(torch.as_tensor(values).detach().numpy().astype(np.float32).tobytes()).decode()


def speak(model, state, text, guard, after, steps, temperature):
    from pocket_tts.models import tts_model

    torch.nn.init.normal_ = noise = Noise()
    model.temp, model.lsd_decode_steps = temperature, steps
    noted, restore = watched(model, guard, after, noise)
    chunks = tts_model.split_into_best_sentences(model.flow_lm.conditioner.tokenizer, text, 50, False, False)
    audios = []
    for chunk in chunks:
        audio = list(model._generate_audio_stream_short_text(state, chunk, after, copy_state=True))
        audios.append(torch.cat(audio))
    restore()
    frames = [len(audio) // SIZE.frame for audio in audios]
    return {
        "text": text, "guard": guard, "after": after, "steps": steps, "temperature": temperature,
        "chunks": [
            {
                "text": chunk, "ids": ids, "eos": eos, "frames": count, "audio": packed(audio[::101]),
            }
            for chunk, ids, eos, count, audio in zip(chunks, noted["tokens"], noted["eos"], frames, audios)
        ],
    }


def main():
    from pocket_tts.models.tts_model import TTSModel, export_model_state

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sp = tokenizer()
        weights = graphs.random_weights(SIZE, SEED, digits=6)
        # A random model is chaotic with its own output as input: rounding would grow from frame to frame.
        weights["flow_lm.flow_net.final_layer.linear.weight"] *= 0.125
        # Makes the model finish after some 10 to 60 frames.
        weights["flow_lm.out_eos.weight"] *= 3
        weights["flow_lm.out_eos.bias"] = torch.full((1,), EOS_BIAS)
        graphs.export_bundle(SIZE, weights, folder, sp, name="small")
        model = TTSModel.load_model(config=config(folder))
        model.load_state_dict(weights, strict=True)
        clip = torch.tensor([0.3 * math.sin(i / 9) * math.sin(i / 3000) + 0.1 * math.sin(i * i / 90000) for i in range(11 * SIZE.frame + 700)])
        state = model.get_state_for_audio_prompt(clip.view(1, -1))
        heard = model._encode_audio(clip.view(1, 1, -1))
        export_model_state(state, folder / "voice.safetensors")
        cases = [
            speak(model, state, text, guard, after, steps, temperature)
            for text in TEXTS
            for guard, after, steps, temperature in ((0, 3, 1, 0.7), (GUARD, 5, 1, 0.3), (GUARD, 1, 4, 1.0))
        ]
        # A model that does not finish by itself.
        cases.append(speak(model, state, TEXTS[0], 1000, 3, 1, 0.7))
        for case in cases:
            print(case["guard"], case["steps"], [(len(c["ids"]), c["eos"], c["frames"]) for c in case["chunks"]])
        golden = {
            "clip_samples": len(clip), "heard": packed(heard), "heard_frames": heard.shape[1],
            "voice": base64.b64encode((folder / "voice.safetensors").read_bytes()).decode(), "cases": cases,
        }
        names = ["bundle.json", "tokenizer.model", "bos_before_voice.npy", *(p.name for p in sorted(folder.glob("*.onnx")))]
        golden["files"] = {name: base64.b64encode((folder / name).read_bytes()).decode() for name in names}
        # Identical to the published file, so the states of the real graphs match this project's understanding of them.
        voices = ["alba", "azelma", "cosette", "eponine", "fantine", "javert", "jean", "marius"]
        bundle = graphs.written(graphs.description(graphs.Size(), "english_2026-04", predefined_voices=voices))
        (Path(sys.argv[1]) / "bundle.golden.json.gz").write_bytes(gzip.compress(bundle.encode(), mtime=0))
        out = Path(sys.argv[1]) / "parity.golden.json.gz"
        out.write_bytes(gzip.compress(json.dumps(golden).encode(), mtime=0))
        print(out, out.stat().st_size)


main()
