"""References for the parts of Whisper around its graphs. Driven by whisper-features.ts.

whisper-features.py features WORK    log-mel features of WORK/<name>.f32, raw float32 mono at 16 kHz
whisper-features.py learn WORK       a small byte-level vocabulary from WORK/texts.json, written to WORK/tokenizer.json
whisper-features.py vocabulary WORK TIKTOKEN    the same from a vocabulary of openai/whisper, as `transformers` has it
whisper-features.py tokens WORK      ids of WORK/texts.json and texts of WORK/ids.json by WORK/tokenizer.json

needs: pip install numpy torch transformers tokenizers openai-whisper==20250625
"""
import base64
import glob
import json
import os
import sys

import numpy as np

LEARNED = 700


def features(work):
    """The extractor of transformers pads or cuts to 30 s; openai-whisper adds 30 s of silence to any length."""
    from transformers import WhisperFeatureExtractor
    from whisper.audio import log_mel_spectrogram

    result = {}
    for path in sorted(glob.glob(f"{work}/*.f32")):
        samples = np.fromfile(path, dtype="<f4")
        frames = len(samples) // 160
        of_clip = {}
        for bands in (80, 128):
            extract = WhisperFeatureExtractor(feature_size=bands)
            theirs = extract(samples, sampling_rate=16000, return_tensors="np").input_features[0][:, :frames]
            openai = log_mel_spectrogram(samples, bands, padding=480000).numpy()[:, :frames]
            of_clip[bands] = {"transformers": rounded(theirs), "openai": rounded(openai)}
        result[os.path.basename(path)[:-4]] = of_clip
    write(work, "features.json", result)


def rounded(values):
    return [[round(float(value), 6) for value in row] for row in values]


def special_tokens(languages=99):
    from whisper.tokenizer import LANGUAGES

    return [
        "<|endoftext|>",
        "<|startoftranscript|>",
        *[f"<|{code}|>" for code in list(LANGUAGES)[:languages]],
        *["<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"],
        *[f"<|{i * 0.02:.2f}|>" for i in range(1501)],
    ]


def byte_level(tokenizer):
    from tokenizers import decoders, pre_tokenizers

    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    return tokenizer


def learn(work):
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = byte_level(Tokenizer(models.BPE()))
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=LEARNED, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(read(work, "texts.json"), trainer)
    tokenizer.add_special_tokens(special_tokens())
    tokenizer.save(f"{work}/tokenizer.json", pretty=False)


def vocabulary(work, path, languages=99):
    """The merges below a token's rank leave two parts of it; those are its merge."""
    from tokenizers import Tokenizer, models

    with open(path, "rb") as file:
        ranks = {base64.b64decode(token): int(rank) for token, rank in (line.split() for line in file if line.strip())}
    merges = []
    for token, rank in sorted(ranks.items(), key=lambda item: item[1]):
        parts = [bytes([byte]) for byte in token]
        while len(parts) > 2:
            pairs = [ranks.get(left + right, rank) for left, right in zip(parts, parts[1:])]
            at = pairs.index(min(pairs))
            assert pairs[at] < rank, f"{token} has no merge"
            parts[at : at + 2] = [parts[at] + parts[at + 1]]
        if len(parts) == 2:
            merges.append((printed(parts[0]), printed(parts[1])))
    vocab = {printed(token): rank for token, rank in ranks.items()}
    tokenizer = byte_level(Tokenizer(models.BPE(vocab, merges)))
    tokenizer.add_special_tokens(special_tokens(languages))
    tokenizer.save(f"{work}/tokenizer.json", pretty=False)


def printed(token):
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    return "".join(chr(byte if byte in plain else 256 + others.index(byte)) for byte in token)


def tokens(work):
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(f"{work}/tokenizer.json")
    tokenizer.encode_special_tokens = True
    ids = [encoding.ids for encoding in tokenizer.encode_batch(read(work, "texts.json"), add_special_tokens=False)]
    texts = [tokenizer.decode(row, skip_special_tokens=False) for row in read(work, "ids.json")]
    write(work, "tokens.json", {"ids": ids, "texts": texts})


def read(work, name):
    with open(f"{work}/{name}", encoding="utf-8") as file:
        return json.load(file)


def write(work, name, value):
    with open(f"{work}/{name}", "w", encoding="utf-8") as file:
        json.dump(value, file)


if __name__ == "__main__":
    {"features": features, "learn": learn, "vocabulary": vocabulary, "tokens": tokens}[sys.argv[1]](*sys.argv[2:])
