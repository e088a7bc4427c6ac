"""Makes the reference for src/models/pocket/text.test.ts: how Kyutai's package prepares texts, cuts them into chunks and
ends clips.

    pip install torch numpy scipy sentencepiece tokenizers huggingface_hub requests typing_extensions pocket-tts==4.0.1
    python scripts/golden/pocket-text.py src/models/pocket
"""
import base64
import gzip
import json
import math
import sys
from pathlib import Path

import sentencepiece
import torch
from pocket_tts.data.audio_utils import end_on_pause
from pocket_tts.models.text_chunking import prepare_text_prompt, split_into_best_sentences

PREPARED = [
    "hello", "Hello.", "hello there my old friend", "1", "is it?", "wait,", "wait ;", "and then -", "what –", "so: ",
    '"Quoted"', "(In brackets)", 'He said "no"', 'He said "no."', "it's", "Élan", "élan vital", "ünter uns gesagt; ja",
    "one; two; three; four; five", "a; b", "ß", "…", "and so on…", "stop!", "'", "x'", "eins zwei drei vier fünf",
    "über", "ñandú", "3.5", "well -- yes -", "End of the line:)", "œuvre", "a" * 40,
]
# Sentences as people write them: without figures, quotation marks or brackets, which our own code would change first.
CHUNKED = [
    "Hello.",
    "Is it? Yes! Go on, then.",
    "The birds in the old garden learn every song they hear. They sing it again in the morning.",
    "It was a cold day in early spring. The children ran outside at once. Was there still snow on the hills? Nobody "
    "knew. They climbed up the path and looked around. The sun came out. It was warm, and they stayed until noon.",
    "It was a cold day in early spring, and the children, who had waited all winter, ran outside at once, laughing, "
    "calling, throwing what little snow was left, until somebody fell. Was there still snow on the hills? Nobody knew.",
    "One. Two. Three. Four. Five. Six. Seven. Eight. Nine. Ten. Eleven. Twelve. Thirteen. Fourteen. Fifteen. Sixteen. "
    "Seventeen. Eighteen. Nineteen. Twenty.",
    "If you call about the storm, you need not wait: the crews are on their way; most houses will have light again "
    "before the evening. If you call about a bill, please have your customer number at hand. It stands at the top of "
    "every letter that we send to you. Thank you.",
]


def clip(kind):
    count = 24000
    if kind == "speech that goes on":
        return [0.3 * math.sin(i / 9) for i in range(count)]
    if kind == "silence behind":
        return [0.3 * math.sin(i / 9) if i < 13000 else 0.001 * math.sin(i / 7) for i in range(count)]
    return [0.3 * math.sin(i / 9) * math.exp(-i / 3000) for i in range(count)]


def main():
    folder = Path(sys.argv[1])
    small = json.loads(gzip.decompress((folder / "parity.golden.json.gz").read_bytes()))
    library = sentencepiece.SentencePieceProcessor(model_proto=base64.b64decode(small["files"]["tokenizer.model"]))

    class Tokenizer:
        def __call__(self, text):
            return torch.tensor(library.encode(text))[None, :]

        def decode(self, ids):
            return library.decode(ids)

    golden = {
        "prepared": [
            {"text": text, "pad": pad, "semicolons": semicolons, "to": to, "frames": frames + 2}
            for text in PREPARED
            for pad, semicolons in ((False, False), (True, True))
            for to, frames in [prepare_text_prompt(text, pad, semicolons)]
        ],
        "chunked": [
            {"text": text, "max": most, "to": split_into_best_sentences(Tokenizer(), text, most, False, False)}
            for text in CHUNKED
            for most in (50, 35)
        ],
        "clips": [
            {"kind": kind, "length": len(ended), "samples": ended[::997]}
            for kind in ("speech that goes on", "silence behind", "dying away")
            for ended in [end_on_pause(torch.tensor(clip(kind)).view(1, -1), 24000)[0].tolist()]
        ],
    }
    (folder / "text.golden.json").write_text(json.dumps(golden, ensure_ascii=False, indent=1) + "\n")


main()
