"""Makes the reference for src/models/tokenizers/sentencepiece.test.ts: small models trained here on licences, and the
sentencepiece library's output for 2,400 hard strings.

    python scripts/golden/pocket-tokenizer.py src/models/tokenizers/sentencepiece.golden.json.gz

Needs sentencepiece 0.2. With a second argument, a folder, it also writes larger models with their own goldens there,
for a run by hand.
"""
import base64
import gzip
import io
import json
import random
import sys
import tempfile
import zlib
from pathlib import Path

import sentencepiece

root = Path(__file__).parent.parent.parent

SCRIPTS = {
    "Latin": (0x41, 0x17F), "Greek": (0x391, 0x3C9), "Cyrillic": (0x410, 0x44F), "Armenian": (0x531, 0x556),
    "Hebrew": (0x5D0, 0x5EA), "Arabic": (0x621, 0x64A), "Devanagari": (0x905, 0x94D), "Bengali": (0x985, 0x9CD),
    "Gurmukhi": (0xA05, 0xA4D), "Tamil": (0xB85, 0xBCD), "Telugu": (0xC05, 0xC4D), "Thai": (0xE01, 0xE3A),
    "Lao": (0xE81, 0xEB9), "Tibetan": (0xF40, 0xF6C), "Georgian": (0x10D0, 0x10F0), "Hangul": (0xAC00, 0xAFFF),
    "Ethiopic": (0x1200, 0x1248), "Khmer": (0x1780, 0x17B3), "Hiragana": (0x3041, 0x3096), "Han": (0x4E00, 0x4FFF),
    "Gothic": (0x10330, 0x1034A), "Mongolian": (0x1820, 0x1842),
}
ODD = [
    "\0", "\0\0", "\t", "\n", "\r\n", " ", "  ", "   ", "\u00a0", "\u3000", "\u200b", "\u200d", "\ufeff", "▁", "▁▁",
    "👋", "👨‍👩‍👧", "❤️", "🇫🇷", "🏽", "e\u0301", "o\u0308\u0323", "a\u0300\u0301\u0302\u0303", "ﬁ", "Ⅷ", "①", "½",
    "ＡＢ", "𝐀𝐁", "ß", "İ", "ı", "ŉ", "…", "—", "–", "“", "”", "’", "„", "«", "»", ".", "!", "?", ",", ";", ":", "...",
    "\u0001", "\u001b", "\u007f", "\u0085", "\u2028", "\ufffd", "\ufffe", "\U0010ffff", "<unk>", "<s>", "</s>",
    "<0x41>", "<pad>", "[laugh]", "[laugh", "km", "kmh", "1234567890", "3.14", "$5", "%", "#", "@", "\\", '"', "'",
]


def corpus():
    """Texts that stay unchanged, and words of many scripts."""
    texts = [path.read_text() for path in [root / "LICENSE", *sorted(root.glob("build/third-party/*.txt"))]]
    lines = [line.strip() for text in texts for line in text.split("\n") if len(line) > 12]
    rng = random.Random(5)
    for low, high in SCRIPTS.values():
        words = ["".join(chr(rng.randint(low, high)) for _ in range(rng.randint(2, 6))) for _ in range(12)]
        lines += [" ".join(rng.choice(words) for _ in range(8)) for _ in range(4)]
    return lines


def strings(lines):
    rng = random.Random(11)
    out = ["", " ", "  ", "a", " a", "a ", " a  b ", "\0", "▁", "▁a▁", "Hello world.", ".!...?", ",;:", "a" * 700, " " * 300]
    while len(out) < 2400:
        kind = rng.randrange(6)
        if kind == 0:
            text = rng.choice(lines)
        elif kind == 1:
            low, high = SCRIPTS[rng.choice(sorted(SCRIPTS))]
            text = "".join(chr(rng.randint(low, high)) if rng.random() > 0.15 else " " for _ in range(rng.randint(1, 30)))
        elif kind == 2:
            text = "".join(rng.choice(ODD) for _ in range(rng.randint(1, 12)))
        elif kind == 3:
            text = "".join(rng.choice([rng.choice(ODD), rng.choice(rng.choice(lines).split() or ["x"])]) + rng.choice(["", " "])
                           for _ in range(rng.randint(1, 12)))
        elif kind == 4:
            text = rng.choice(["a", "g", "ab", "the", ". ", "é", "中", "👋", " ", "▁", "\t"]) * rng.randint(2, 60)
        else:
            text = "".join(chr(rng.choice([rng.randint(1, 0x7F), rng.randint(0x80, 0xD7FF), rng.randint(0xE000, 0x10FFFF)]))
                           for _ in range(rng.randint(1, 16)))
        out.append(text)
    return out


def train(lines, **settings):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, model_type="unigram", minloglevel=2, num_threads=1,
        max_sentence_length=20000, character_coverage=0.98, **{"hard_vocab_limit": False, **settings},
    )
    return model.getvalue()


def checksum(ids):
    return zlib.crc32(",".join(map(str, ids)).encode())


def main():
    lines = corpus()
    tested = strings(lines)
    rules = Path(tempfile.mkdtemp()) / "rules.tsv"
    pairs = [("’", "'"), ("…", "..."), ("ﬁ", "fi"), ("½", " 1/2"), ("\t", " "), ("\u00a0", " "), ("\u200b", ""), ("ß", "ss")]
    pairs += [("e\u0301", "é"), ("o\u0308\u0323", "ọ̈"), ("km", "kilo metre"), ("«", ""), ("»", " "), ("\0", "")]
    pairs += [(chr(0xFF21 + i), chr(0x41 + i)) for i in range(26)] + [(chr(0x41 + i), chr(0x61 + i)) for i in range(26)]
    hexes = lambda text: " ".join(f"{ord(c):X}" for c in text)
    rules.write_text("".join(f"{hexes(a)}\t{hexes(b)}\n" for a, b in pairs if a != "\0"))
    settings = {
        "as Pocket TTS has it": dict(vocab_size=2000, byte_fallback=True, normalization_rule_name="identity"),
        "characters replaced": dict(vocab_size=400, normalization_rule_tsv=str(rules), user_defined_symbols=["[laugh]", "kmh", "A  B"]),
        "spaces as they are": dict(
            vocab_size=700, byte_fallback=True, normalization_rule_name="identity", add_dummy_prefix=False,
            remove_extra_whitespaces=False, split_by_whitespace=False, allow_whitespace_only_pieces=True,
        ),
        "the space behind": dict(vocab_size=300, normalization_rule_name="identity", treat_whitespace_as_suffix=True),
    }
    if len(sys.argv) > 2:
        settings = {
            f"{name}, {size}": dict(vocab_size=size, byte_fallback=fallback, normalization_rule_name=name)
            for name in ("nmt_nfkc", "nmt_nfkc_cf", "nfkc") for size, fallback in ((4000, True), (1500, False))
        }
    golden = {"strings": tested, "models": []}
    for name, setting in settings.items():
        model = train(lines, **setting)
        library = sentencepiece.SentencePieceProcessor(model_proto=model)
        golden["models"].append({
            "name": name, "size": library.vocab_size(), "model": base64.b64encode(model).decode(),
            "crc32": [checksum(library.encode(text)) for text in tested],
        })
    out = Path(sys.argv[1]) if len(sys.argv) == 2 else Path(sys.argv[2]) / "sentencepiece.golden.json.gz"
    out.write_bytes(gzip.compress(json.dumps(golden, ensure_ascii=True).encode(), mtime=0))
    print(out, out.stat().st_size)


main()
