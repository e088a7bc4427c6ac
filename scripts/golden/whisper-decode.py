"""The transcripts of openai/whisper with a small model of random weights, and that model as ONNX. Driven by whisper-decode.ts.

whisper-decode.py model WORK     WORK/tokenizer.json to WORK/{encoder_model,decoder_model_merged,...}.onnx and *.json
whisper-decode.py hear WORK      WORK/orders.json, a list of clips (raw float32, 16 kHz) with options, to WORK/heard.json
whisper-decode.py generate WORK  how many of WORK/*.f32 transformers writes as openai/whisper does

The reference has its own generator of random numbers; here it uses ours. needs: as fullsize-whisper.py
"""
import glob
import json
import os
import sys
from importlib.machinery import SourceFileLoader

# Set before any library starts threads, which cost more than a model of this size needs.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import onnx
import torch
import whisper
import whisper.decoding
import whisper.model
import whisper.tokenizer
from tokenizers import Tokenizer
from whisper.audio import N_FRAMES, log_mel_spectrogram, pad_or_trim

fullsize = SourceFileLoader("fullsize", os.path.join(os.path.dirname(__file__), "../fullsize-whisper.py")).load_module()

SEED = 5
WIDTH, HEADS, ENCODER_LAYERS, DECODER_LAYERS, BANDS = 16, 2, 1, 2, 80
ALIGNMENT_HEADS = [[0, 1], [1, 0], [1, 1]]
# The spread of these tokens' logits, chosen so that texts end, segments follow each other, and silence is recognised.
SPREAD = {"text": 0.9, "bytes": 0.6, "space": 1.8, "end": 2.6, "special": 0.3, "timestamp": 0.75, "nospeech": 4.0}
GAIN = {"cross_attn": 4.0, "other": 1.5}

LEAST_MARGIN = 1e-6

torch.set_num_threads(1)


class Vocabulary:
    """The part of tiktoken that openai/whisper needs, through the tokenizers library."""

    def __init__(self, path):
        self.tokenizer = Tokenizer.from_file(path)
        self.tokenizer.encode_special_tokens = True
        ids = self.tokenizer.get_vocab(with_added_tokens=True)
        self.eot_token = ids["<|endoftext|>"]
        self.special = {name: id for name, id in sorted(ids.items(), key=lambda item: item[1]) if id >= self.eot_token}
        self.special_tokens_set = list(self.special)
        self.size = len(ids)

    def encode_single_token(self, name):
        return self.special[name]

    def encode(self, text, **_):
        return self.tokenizer.encode(text, add_special_tokens=False).ids

    def decode(self, ids, **_):
        return self.tokenizer.decode(list(ids), skip_special_tokens=False)


class Mulberry32:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        word = lambda value: value & 0xFFFFFFFF
        self.state = word(self.state + 0x6D2B79F5)
        mixed = word((self.state ^ (self.state >> 15)) * (self.state | 1))
        mixed ^= word(mixed + word((mixed ^ (mixed >> 7)) * (mixed | 61)))
        return word(mixed ^ (mixed >> 14)) / 2**32


class Drawing:
    random = Mulberry32(0)
    # The nearest miss: the difference in probability with which another token would have been drawn.
    margin = 1.0

    def __init__(self, logits):
        self.logits = logits[0].double()

    def sample(self):
        sums = torch.cumsum(torch.exp(self.logits - self.logits.max()), 0)
        drawn = Drawing.random.next() * sums[-1]
        Drawing.margin = min(Drawing.margin, float((sums - drawn).abs().min() / sums[-1]))
        return torch.tensor([int((sums <= drawn).sum())])


def install(work, multilingual):
    """Makes openai/whisper use the small vocabulary and our random numbers."""
    vocabulary = Vocabulary(f"{work}/tokenizer.json")
    whisper.tokenizer.get_encoding = lambda name="gpt2", num_languages=99: vocabulary
    whisper.tokenizer.get_tokenizer.cache_clear()
    whisper.model.Whisper.is_multilingual = property(lambda _: multilingual)
    whisper.model.Whisper.num_languages = property(lambda _: 99)
    whisper.decoding.Categorical = Drawing
    return vocabulary


def build(vocabulary):
    dims = whisper.model.ModelDimensions(
        BANDS, 1500, WIDTH, HEADS, ENCODER_LAYERS, vocabulary.size, 448, WIDTH, HEADS, DECODER_LAYERS
    )
    model = whisper.model.Whisper(dims)
    generator = torch.Generator().manual_seed(SEED)
    normal = lambda shape: torch.randn(shape, generator=generator)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            if name.endswith("bias"):
                weights.copy_(0.1 * normal(weights.shape))
            elif "ln" in name:
                weights.fill_(1)
            elif name == "decoder.positional_embedding":
                weights.copy_(normal(weights.shape))
            elif name == "decoder.token_embedding.weight":
                weights.copy_(normal(weights.shape) * spreads(vocabulary))
            else:
                gain = GAIN["cross_attn" if "cross_attn" in name else "other"]
                weights.copy_(gain * normal(weights.shape) / weights[0].numel() ** 0.5)
        # Numbers of few bits, so that the files compress well.
        for weights in [*model.parameters(), model.encoder.positional_embedding]:
            weights.copy_((weights * 32).round() / 32)
    heads = torch.zeros(DECODER_LAYERS, HEADS, dtype=torch.bool)
    for layer, head in ALIGNMENT_HEADS:
        heads[layer, head] = True
    model.register_buffer("alignment_heads", heads.to_sparse(), persistent=False)
    return model.eval()


def spreads(vocabulary):
    rows = torch.full((vocabulary.size, 1), SPREAD["special"])
    rows[: vocabulary.eot_token] = SPREAD["text"]
    # Ensures that there are words: few incomplete letters, and many beginnings.
    for id in range(vocabulary.eot_token):
        text = vocabulary.decode([id])
        if text.startswith(" ") and text.isascii():
            rows[id] = SPREAD["space"]
        elif "\ufffd" in text:
            rows[id] = SPREAD["bytes"]
    rows[vocabulary.eot_token] = SPREAD["end"]
    rows[vocabulary.special["<|nospeech|>"]] = SPREAD["nospeech"]
    rows[vocabulary.special["<|0.00|>"] :] = SPREAD["timestamp"]
    return rows


def as_transformers(model, vocabulary):
    dims = model.dims
    config = fullsize.hf_config(
        dims.n_text_state, dims.n_text_head, dims.n_audio_layer, dims.n_text_layer, BANDS, dims.n_vocab, vocabulary.eot_token
    )
    names = [
        *[(".blocks.", ".layers."), (".mlp.0.", ".fc1."), (".mlp.2.", ".fc2."), (".mlp_ln.", ".final_layer_norm.")],
        *[(".cross_attn_ln.", ".encoder_attn_layer_norm."), (".attn_ln.", ".self_attn_layer_norm.")],
        *[(".cross_attn.", ".encoder_attn."), (".attn.", ".self_attn."), (".query.", ".q_proj."), (".key.", ".k_proj.")],
        *[(".value.", ".v_proj."), (".out.", ".out_proj."), ("encoder.ln_post.", "encoder.layer_norm.")],
        *[("decoder.ln.", "decoder.layer_norm."), ("positional_embedding", "embed_positions.weight")],
        ("token_embedding", "embed_tokens"),
    ]
    state = {}
    for name, weights in model.state_dict().items():
        if name in ("decoder.mask", "alignment_heads"):
            continue
        for theirs, ours in names:
            name = name.replace(theirs, ours)
        state[f"model.{name}"] = weights
    result = fullsize.WhisperForConditionalGeneration(config)
    missing, unknown = result.load_state_dict(state, strict=False)
    assert unknown == [] and missing in ([], ["proj_out.weight"]), (missing, unknown)
    return result.eval()


def write_model(work):
    vocabulary = install(work, True)
    theirs = as_transformers(build(vocabulary), vocabulary)
    fullsize.export(theirs, work, words=True)
    fullsize.write_configs(work, theirs.config, vocabulary.special, ALIGNMENT_HEADS)
    half = fullsize.halved(onnx.load(f"{work}/decoder_model_merged.onnx"))
    onnx.save(half, f"{work}/decoder_model_merged_fp16.onnx")


def hear(work):
    """Each order: clip, multilingual, and the options of `transcribe`; a null `language` is detected as in our code.

    An answer that depends on the last digits of a number is null, because another processor would draw another token.
    """
    heard = []
    for order in fullsize.read(work, "orders.json"):
        vocabulary = install(work, order["multilingual"])
        model = build(vocabulary)
        samples = np.fromfile(f"{work}/{order['clip']}.f32", dtype="<f4")
        options = dict(order["options"])
        if options["language"] is None and order["multilingual"]:
            options["language"] = detected(model, samples)
        Drawing.random, Drawing.margin = Mulberry32(0), 1.0
        result = whisper.transcribe(model, samples, fp16=False, **options)
        print(f"{order['clip']}, {order['mode']}: {len(result['segments'])} segments, margin {Drawing.margin:.1g}", flush=True)
        if Drawing.margin < LEAST_MARGIN:
            heard.append(None)
            continue
        heard.append({"language": result["language"], "segments": [plain(segment) for segment in result["segments"]]})
    fullsize.write(work, "heard.json", heard)


def detected(model, samples):
    """From the first window as it is transcribed: the reference adds 30 s of silence to a clip for this alone."""
    mel = log_mel_spectrogram(samples, BANDS, padding=480000)
    window = pad_or_trim(mel[:, : min(N_FRAMES, len(samples) // 160)], N_FRAMES)
    _, probabilities = model.detect_language(window)
    found = max(probabilities, key=probabilities.get)
    if len(samples) >= 480000:
        _, theirs = model.detect_language(pad_or_trim(mel, N_FRAMES))
        assert found == max(theirs, key=theirs.get)
    return found


def plain(segment):
    """[seek, start, end, temperature, mean log probability, compression ratio, no speech, tokens, words]"""
    words = None
    if "words" in segment:
        words = [[w["word"], round(w["start"], 3), round(w["end"], 3), round(float(w["probability"]), 4)] for w in segment["words"]]
    times = [segment["seek"], round(segment["start"], 3), round(segment["end"], 3), segment["temperature"]]
    measures = [round(segment[name], 4) for name in ("avg_logprob", "compression_ratio", "no_speech_prob")]
    return [*times, *measures, segment["tokens"], words]


def generate(work):
    """Greedy, with timestamps, of the first window; transformers gets openai/whisper's features."""
    from transformers import GenerationConfig

    vocabulary = install(work, True)
    model = build(vocabulary)
    theirs = as_transformers(model, vocabulary)
    tokenizer = whisper.tokenizer.get_tokenizer(True, language="en", task="transcribe")
    settings = fullsize.read(work, "generation_config.json")
    special = whisper.decoding.DecodingTask(model, whisper.DecodingOptions(fp16=False))._get_suppress_tokens()
    settings |= {"suppress_tokens": list(special), "max_initial_timestamp_index": 50, "pad_token_id": tokenizer.eot}
    settings["begin_suppress_tokens"] = [*tokenizer.encode(" "), tokenizer.eot]
    theirs.generation_config = GenerationConfig(**settings)
    same, paths = 0, sorted(glob.glob(f"{work}/*.f32"))
    for path in paths:
        samples = pad_or_trim(np.fromfile(path, dtype="<f4"), 480000)
        free = {"compression_ratio_threshold": None, "logprob_threshold": None, "no_speech_threshold": None}
        options = {"language": "en", "temperature": 0.0, "condition_on_previous_text": False, **free}
        segments = whisper.transcribe(model, samples, fp16=False, **options)["segments"]
        ours = [id for segment in segments for id in segment["tokens"]]
        mel = log_mel_spectrogram(samples, BANDS, padding=480000)[None, :, :N_FRAMES]
        options = {"language": "en", "task": "transcribe", "return_timestamps": True, "return_segments": True}
        result = theirs.generate(mel, attention_mask=torch.ones(1, N_FRAMES), do_sample=False, max_new_tokens=224, **options)
        written = [id for segment in result["segments"][0] for id in single_ended(segment["tokens"].tolist(), tokenizer)]
        same += written == ours
        if written != ours:
            at = next((i for i, (a, b) in enumerate(zip(written, ours)) if a != b), min(len(written), len(ours)))
            name = os.path.basename(path)
            print(f"{name}: at {at} transformers has {written[at:at+4]} ({len(written)}), openai {ours[at:at+4]} ({len(ours)})")
    print(f"{same} of {len(paths)} clips alike")


def single_ended(ids, tokenizer):
    """transformers keeps the first timestamp of the part that it leaves for the next window."""
    ids = [id for id in ids if id != tokenizer.eot]
    return ids[:-1] if min(ids[-2:]) >= tokenizer.timestamp_begin else ids


if __name__ == "__main__":
    {"model": write_model, "hear": hear, "generate": generate}[sys.argv[1]](*sys.argv[2:])
