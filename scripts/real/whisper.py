"""Published Whisper weights as packages ship them (CTranslate2, half precision) to ONNX in the layout of the hub.

whisper.py CT2 OUT [words]      OUT/fp32 and OUT/q8: encoder_model.onnx, decoder_model_merged.onnx and the JSON files

With "words" the decoder has its attention as outputs, from which times of words are found.

CT2 holds model.bin, config.json and tokenizer.json. The weights go into a checkpoint of transformers, optimum exports
that, and ONNX Runtime rounds it to eight bits as the hub's q8 files are: by tensor, unsigned where there are
convolutions, signed elsewhere.
needs: numpy torch transformers optimum accelerate onnx onnxruntime onnxslim
"""
import json
import os
import shutil
import struct
import sys
import tempfile

import numpy as np
import onnx
import onnxslim
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from optimum.exporters.onnx import main_export
from optimum.exporters.onnx.base import ConfigBehavior
from optimum.exporters.onnx.model_configs import WhisperOnnxConfig
from transformers import GenerationConfig, WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

TYPES = [np.float32, np.int8, np.int16, np.int32, np.float16, np.uint16]
# English-only models have fewer tokens.
MULTILINGUAL_VOCABULARY = 51865
JSON_FILES = ["config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json"]


def read_ct2(path):
    """Name to array. The file is a list of variables: name, rank, dimensions, type, size in bytes, content."""
    with open(path, "rb") as file:
        def number(code):
            return struct.unpack("<" + code, file.read(struct.calcsize("<" + code)))[0]

        def text():
            return file.read(number("H"))[:-1].decode()

        number("I"), text(), number("I")
        variables = {}
        for _ in range(number("I")):
            name = text()
            dims = [number("I") for _ in range(number("B"))]
            kind = TYPES[number("B")]
            values = np.frombuffer(file.read(number("I")), kind)
            variables[name] = values.reshape(dims) if dims else values[0]
        return variables


class Weights:
    """The state of a checkpoint, filled from the variables."""

    def __init__(self, variables):
        self.variables = variables
        self.state = {}

    def tensor(self, name):
        return torch.from_numpy(self.variables[name].astype(np.float32))

    def put(self, target, source, names=("weight", "bias")):
        for part, kind in zip(("weight", "bias"), names):
            self.state[f"{target}.{part}"] = self.tensor(f"{source}/{kind}")

    def norm(self, target, source):
        self.put(target, source, ("gamma", "beta"))

    def split(self, targets, source):
        """One product that computes several. In Whisper, keys have no bias, so they get zeros here."""
        weights = self.tensor(f"{source}/weight").chunk(len(targets))
        biases = self.tensor(f"{source}/bias").chunk(len(targets))
        for target, weight, bias in zip(targets, weights, biases):
            self.state[f"{target}.weight"] = weight.clone()
            if not target.endswith("k_proj"):
                self.state[f"{target}.bias"] = bias.clone()

    def layer(self, target, source, has_sound):
        own, sound = f"{target}.self_attn", f"{target}.encoder_attn"
        self.split([f"{own}.{part}_proj" for part in "qkv"], f"{source}/self_attention/linear_0")
        self.put(f"{own}.out_proj", f"{source}/self_attention/linear_1")
        self.norm(f"{own}_layer_norm", f"{source}/self_attention/layer_norm")
        if has_sound:
            self.split([f"{sound}.q_proj"], f"{source}/attention/linear_0")
            self.split([f"{sound}.{part}_proj" for part in "kv"], f"{source}/attention/linear_1")
            self.put(f"{sound}.out_proj", f"{source}/attention/linear_2")
            self.norm(f"{sound}_layer_norm", f"{source}/attention/layer_norm")
        self.put(f"{target}.fc1", f"{source}/ffn/linear_0")
        self.put(f"{target}.fc2", f"{source}/ffn/linear_1")
        self.norm(f"{target}.final_layer_norm", f"{source}/ffn/layer_norm")


def layers_of(variables, side):
    return len({name.split("/")[1] for name in variables if name.startswith(f"{side}/layer_")} - {"layer_norm"})


def checkpoint(ct2, out):
    variables = read_ct2(f"{ct2}/model.bin")
    with open(f"{ct2}/config.json") as file:
        config = json.load(file)
    with open(f"{ct2}/tokenizer.json", encoding="utf-8") as file:
        tokenizer = json.load(file)
    special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    vocabulary, width = variables["decoder/embeddings/weight"].shape
    heads = int(variables["decoder/num_heads"])
    encoder, decoder = layers_of(variables, "encoder"), layers_of(variables, "decoder")
    end = special["<|endoftext|>"]
    ends = dict(pad_token_id=end, bos_token_id=end, eos_token_id=end, decoder_start_token_id=end + 1)
    model = WhisperForConditionalGeneration(WhisperConfig(
        vocab_size=vocabulary, num_mel_bins=80, d_model=width, encoder_layers=encoder, decoder_layers=decoder,
        encoder_attention_heads=heads, decoder_attention_heads=heads, encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width, suppress_tokens=None, begin_suppress_tokens=config["suppress_ids_begin"], **ends,
    )).eval()
    weights = Weights(variables)
    for side, count in (("encoder", encoder), ("decoder", decoder)):
        positions = weights.tensor(f"{side}/position_encodings/encodings")
        weights.state[f"model.{side}.embed_positions.weight"] = positions
        weights.norm(f"model.{side}.layer_norm", f"{side}/layer_norm")
        for at in range(count):
            weights.layer(f"model.{side}.layers.{at}", f"{side}/layer_{at}", side == "decoder")
    for conv in ("conv1", "conv2"):
        weights.put(f"model.encoder.{conv}", f"encoder/{conv}")
    embeddings = weights.tensor("decoder/embeddings/weight")
    weights.state["model.decoder.embed_tokens.weight"] = weights.state["proj_out.weight"] = embeddings
    model.load_state_dict(weights.state, strict=True)
    model.tie_weights()
    model.generation_config = GenerationConfig.from_dict(generation(config, special, vocabulary, ends))
    model.save_pretrained(out)
    WhisperFeatureExtractor().save_pretrained(out)
    write_tokenizer(out, tokenizer, special)


def generation(config, special, vocabulary, ends):
    is_multilingual = vocabulary >= MULTILINGUAL_VOCABULARY
    found = dict(
        **ends, alignment_heads=config["alignment_heads"], begin_suppress_tokens=config["suppress_ids_begin"],
        suppress_tokens=config["suppress_ids"], is_multilingual=is_multilingual, max_initial_timestamp_index=50,
        max_length=448, no_timestamps_token_id=special["<|notimestamps|>"],
        prev_sot_token_id=special["<|startofprev|>"], return_timestamps=False,
    )
    if is_multilingual:
        languages = set(config["lang_ids"])
        found["lang_to_id"] = {name: id for name, id in special.items() if id in languages}
        found["task_to_id"] = {task: special[f"<|{task}|>"] for task in ("transcribe", "translate")}
    return found


def write_tokenizer(out, tokenizer, special):
    """Packages omit the timestamp tokens, which the hub's files have."""
    first = special["<|notimestamps|>"] + 1
    model = next(token for token in tokenizer["added_tokens"] if token["content"] == "<|notimestamps|>")
    if "<|0.00|>" not in special:
        for at in range(1501):
            token = {**model, "id": first + at, "content": f"<|{at * 0.02:.2f}|>", "special": False}
            tokenizer["added_tokens"].append(token)
    merges = [merge if isinstance(merge, str) else " ".join(merge) for merge in tokenizer["model"]["merges"]]
    end = "<|endoftext|>"
    tokens = {f"{kind}_token": end for kind in ("unk", "bos", "eos", "pad")}
    files = {
        "tokenizer.json": tokenizer,
        "vocab.json": tokenizer["model"]["vocab"],
        "added_tokens.json": {token["content"]: token["id"] for token in tokenizer["added_tokens"]},
        "normalizer.json": {},
        "tokenizer_config.json": {"tokenizer_class": "WhisperTokenizer", "errors": "replace", **tokens},
    }
    for name, content in files.items():
        with open(f"{out}/{name}", "w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False)
    with open(f"{out}/merges.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(["#version: 0.2", *merges, ""]))


def subgraphs(model):
    return [attribute.g for node in model.graph.node for attribute in node.attribute if attribute.HasField("g")]


def share_embeddings(model):
    """Each branch transposes the embeddings at its beginning. If that happens beside the product that needs them, both
    branches read one table, and so does its copy in eight bits."""
    for graph in subgraphs(model):
        nodes = list(graph.node)
        for turn in [node for node in nodes if node.op_type == "Transpose" and "embed_tokens" in node.input[0]]:
            nodes.remove(turn)
            nodes.insert(next(at for at, node in enumerate(nodes) if turn.output[0] in node.input), turn)
        del graph.node[:]
        graph.node.extend(nodes)


class WithAttentions(WhisperOnnxConfig):
    """Names the outputs as the hub's files with word times do."""

    @property
    def outputs(self):
        found = super().outputs
        if self._behavior is ConfigBehavior.DECODER:
            for at in range(self._config.decoder_layers):
                found[f"cross_attentions.{at}"] = {0: "batch_size", 2: "decoder_sequence_length"}
        return found


def attention_options(source):
    whole = WithAttentions(WhisperConfig.from_pretrained(source), task="automatic-speech-recognition")
    parts = dict(
        encoder_model=whole.with_behavior("encoder"),
        decoder_model=whole.with_behavior("decoder", use_past=True, use_past_in_inputs=False),
        decoder_with_past_model=whole.with_behavior("decoder", use_past=True, use_past_in_inputs=True),
    )
    return dict(custom_onnx_configs=parts, model_kwargs={"output_attentions": True})


def export(source, out, work, has_words):
    options = attention_options(source) if has_words else {}
    main_export(source, work, task="automatic-speech-recognition-with-past", do_validation=False, **options)
    for name, kind in (("encoder_model", QuantType.QUInt8), ("decoder_model_merged", QuantType.QInt8)):
        model = onnxslim.slim(f"{work}/{name}.onnx")
        share_embeddings(model)
        onnx.save(model, f"{out}/fp32/{name}.onnx")
        options = {"EnableSubgraph": True, "MatMulConstBOnly": True}
        quantize_dynamic(f"{out}/fp32/{name}.onnx", f"{out}/q8/{name}.onnx", weight_type=kind, extra_options=options)


def main(ct2, out, words=None):
    for kind in ("fp32", "q8"):
        os.makedirs(f"{out}/{kind}", exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as work:
        checkpoint(ct2, work)
        for kind in ("fp32", "q8"):
            for name in JSON_FILES:
                shutil.copy(f"{work}/{name}", f"{out}/{kind}/{name}")
        export(work, out, f"{work}/onnx", words == "words")


if __name__ == "__main__":
    main(*sys.argv[1:])
