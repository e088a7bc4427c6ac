"""Writes Pocket TTS at its real size with random weights, for scripts/bench/pocket.ts: it speaks noise, but takes the time
and memory of the real one.

    pip install torch onnx onnxscript onnxruntime numpy sentencepiece safetensors
    python scripts/fullsize-pocket.py FOLDER

`load` accepts FOLDER/fp32 and FOLDER/int8. The int8 files are made like the published ones: the weights of every MatMul
in language model, flow and decoder become 8 bits; text conditioner and encoder stay as they are.
"""
import importlib.util
import io
import shutil
import sys
import warnings
from pathlib import Path

import onnx
import safetensors.torch
import sentencepiece
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic

warnings.filterwarnings("ignore")
root = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("graphs", Path(__file__).parent / "golden" / "pocket-graphs.py")
graphs = importlib.util.module_from_spec(spec)
sys.modules["graphs"] = graphs
spec.loader.exec_module(graphs)

VOICE_POSITIONS = 126
"""Ten seconds, like Kyutai's own voices."""


def tokenizer(pieces):
    lines = [line.strip(" */") for p in sorted(root.glob("src/**/*.ts")) for line in p.read_text().split("\n")]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([line for line in lines if 20 < len(line) < 200]), model_writer=model, model_type="unigram",
        vocab_size=pieces, byte_fallback=True, normalization_rule_name="identity", minloglevel=2, hard_vocab_limit=True,
    )
    return model.getvalue()


def voice(size, folder):
    shape = (2, 1, VOICE_POSITIONS, size.heads, size.width // size.heads)
    tensors = {}
    for i in range(size.layers):
        module = f"transformer.layers.{i}.self_attn"
        tensors[f"{module}/cache"] = torch.randn(shape)
        tensors[f"{module}/offset"] = torch.full((1,), VOICE_POSITIONS)
    (folder / "voices").mkdir(exist_ok=True)
    safetensors.torch.save_file(tensors, folder / "voices" / "alba.safetensors")


def main():
    out = Path(sys.argv[1])
    size = graphs.Size()
    whole, small = out / "fp32", out / "int8"
    graphs.export_bundle(size, graphs.random_weights(size, 1), whole, tokenizer(size.tokens), name="english_random")
    voice(size, whole)
    small.mkdir(parents=True, exist_ok=True)
    for path in whole.iterdir():
        if path.is_dir():
            shutil.copytree(path, small / path.name, dirs_exist_ok=True)
        elif path.name in ("flow_lm_main.onnx", "flow_lm_flow.onnx", "mimi_decoder.onnx"):
            inferred = onnx.shape_inference.infer_shapes(onnx.load(str(path)))
            quantize_dynamic(
                inferred, str(small / path.name), weight_type=QuantType.QInt8, op_types_to_quantize=["MatMul"],
                extra_options={"ForceQuantizeNoType": True, "DefaultTensorType": onnx.TensorProto.FLOAT},
            )
        else:
            shutil.copy(path, small / path.name)
    for path in sorted(out.rglob("*.onnx")):
        print(path, path.stat().st_size)


main()
