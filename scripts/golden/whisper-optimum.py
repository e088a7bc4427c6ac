"""The small model of whisper-decode.py as a checkpoint, for the tools of Hugging Face to export like
the published ones.

whisper-optimum.py WORK OUT     WORK/tokenizer.json to a folder as transformers saves it

With optimum 1.26.1, transformers 4.52.4 and the scripts of transformers.js, from its folder:
    python -m scripts.convert --model_id OUT --task automatic-speech-recognition-with-past --output_attentions \
        --skip_onnxslim --quantize --modes uint8
The result is packed (gzip -9 -n) into src/models/whisper/golden as *_optimum.onnx.gz and *_uint8.onnx.gz.
needs: as fullsize-whisper.py
"""
import json
import os
import shutil
import sys
from importlib.machinery import SourceFileLoader

from transformers import WhisperFeatureExtractor

golden = SourceFileLoader("golden", os.path.join(os.path.dirname(__file__), "whisper-decode.py")).load_module()


def main(work, out):
    os.makedirs(out, exist_ok=True)
    shutil.copy(f"{work}/tokenizer.json", out)
    vocabulary = golden.install(work, True)
    theirs = golden.as_transformers(golden.build(vocabulary), vocabulary)
    theirs.save_pretrained(out)
    golden.fullsize.write_configs(out, theirs.config, vocabulary.special, golden.ALIGNMENT_HEADS)
    WhisperFeatureExtractor(feature_size=golden.BANDS).save_pretrained(out)
    write_slow_tokenizer(out)


def write_slow_tokenizer(out):
    """The files that older versions read, as in openai's repositories."""
    with open(f"{out}/tokenizer.json", encoding="utf-8") as file:
        tokenizer = json.load(file)
    golden.fullsize.write(out, "vocab.json", tokenizer["model"]["vocab"])
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in tokenizer["model"]["merges"]]
    with open(f"{out}/merges.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(["#version: 0.2", *merges, ""]))
    golden.fullsize.write(out, "added_tokens.json", {token["content"]: token["id"] for token in tokenizer["added_tokens"]})
    golden.fullsize.write(out, "normalizer.json", {})
    end = "<|endoftext|>"
    special = {f"{kind}_token": end for kind in ("unk", "bos", "eos", "pad")}
    golden.fullsize.write(out, "tokenizer_config.json", {"tokenizer_class": "WhisperTokenizer", "errors": "replace", **special})


if __name__ == "__main__":
    main(*sys.argv[1:])
