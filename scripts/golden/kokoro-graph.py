"""Reference for Kokoro's pipeline: the author's own (KPipeline.infer, en_tokenize, load_voice, KModel.forward) around a
small graph with random weights that has the real one's inputs and outputs.

usage: kokoro-graph.py FOLDER    (writes small.onnx and golden.json)
needs: pip install --no-deps kokoro misaki loguru; pip install torch transformers onnx onnxscript huggingface_hub
"""
import json
import random
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
from kokoro.pipeline import KPipeline  # noqa: E402

HOP = 6


class Small(KModel):
    """The real model's structure: symbols and the style's second half give durations, its first half the sound."""

    def __init__(self, vocab):
        torch.nn.Module.__init__(self)
        self.vocab = vocab
        self.context_length = 512
        self.embedding = torch.nn.Embedding(178, 8)
        self.pace = torch.nn.Linear(8 + 128, 10)
        self.sound = torch.nn.Linear(8 + 128, HOP)
        self.seen = None

    @property
    def device(self):
        return torch.device("cpu")

    @torch.no_grad()
    def forward_with_tokens(self, input_ids, ref_s, speed=1):
        self.seen = (input_ids, ref_s)
        symbols = self.embedding(input_ids)
        length = input_ids.shape[1]
        pace = ref_s[:, 128:].unsqueeze(1).expand(-1, length, -1)
        duration = torch.sigmoid(self.pace(torch.cat([symbols, pace], -1))).sum(-1) / speed
        durations = torch.round(duration).clamp(min=1).long().squeeze(0)
        indices = torch.repeat_interleave(torch.arange(length), durations)
        frames = symbols.squeeze(0)[indices]
        timbre = ref_s[:, :128].expand(frames.shape[0], -1)
        return torch.tanh(self.sound(torch.cat([frames, timbre], -1))).reshape(-1), durations


def table(shift):
    """Like the test's table: all rows differ."""
    row = torch.arange(510, dtype=torch.float64).reshape(510, 1, 1)
    column = torch.arange(256, dtype=torch.float64).reshape(1, 1, 256)
    return (torch.sin(0.37 * row + 0.11 * column + shift) * 0.5).float()


class Token:
    def __init__(self, phonemes, whitespace):
        self.text = self.phonemes = phonemes
        self.whitespace = whitespace


def tokens(text):
    made = []
    for word in text.split(" "):
        if word[-1] in ".,;:!?…":
            made += [Token(word[:-1], ""), Token(word[-1], " ")]
        else:
            made.append(Token(word, " "))
    made[-1].whitespace = ""
    return made


def prose(rng, words, marks):
    return " ".join("".join(rng.choices("ɑəɪtnskˈ", k=rng.randint(1, 9))) + rng.choice(marks) for _ in range(words))


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    vocab = json.loads(sys.stdin.read())
    torch.manual_seed(1)
    model = Small(vocab).eval().requires_grad_(False)
    ids = torch.LongTensor([[0, 43, 50, 60, 0]])
    torch.onnx.export(
        KModelForONNX(model),
        (ids, torch.randn(1, 256), torch.ones(1)),
        str(folder / "small.onnx"),
        input_names=["input_ids", "style", "speed"],
        output_names=["waveform", "duration"],
        dynamic_axes={"input_ids": {1: "length"}, "waveform": {0: "samples"}, "duration": {0: "length"}},
        opset_version=17,
        dynamo=False,
    )
    pipeline = KPipeline.__new__(KPipeline)
    pipeline.voices = {"a": table(0), "b": table(1)}
    rng = random.Random(7)
    letters = [symbol for symbol in vocab if not symbol.isspace()]
    sounds = []
    for length, voice, speed in [(1, "a", 1), (12, "a", 1), (40, "b", 0.7), (130, "a,b", 1), (510, "a", 2)]:
        symbols = "".join(rng.choices(letters, k=length))
        output = KPipeline.infer(model, symbols, pipeline.load_voice(voice), speed)
        seen, style = model.seen
        audio = output.audio.numpy()
        places = np.linspace(0, len(audio) - 1, 64).astype(int)
        sounds.append(
            {
                "symbols": symbols,
                "voice": voice.replace(",", "+"),
                "speed": speed,
                "ids": seen[0].tolist(),
                "style": [round(value, 6) for value in style[0, ::16].tolist()],
                "samples": len(audio),
                "audio": [[int(at), round(float(audio[at]), 6)] for at in places],
            }
        )
    chunks = []
    for words, marks in [(400, [""] * 12 + list(".,;")), (300, [""]), (300, [""] * 30 + list(",:")), (150, list(".!?…"))]:
        text = prose(rng, words, marks)
        chunks.append({"text": text, "cuts": [len(ps) for _, ps, _ in KPipeline.en_tokenize(pipeline, tokens(text))]})
    (folder / "golden.json").write_text(json.dumps({"sounds": sounds, "chunks": chunks}, ensure_ascii=False) + "\n")


main()
