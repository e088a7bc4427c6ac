"""Whisper with random weights as ONNX graphs, in the shape of the trained ones on the hub. Speed and memory are measured
with it, because Myna is built without the trained weights. Random weights transcribe nonsense. A window should still be
transcribed once, and into as many tokens as half a minute of speech. So the configuration forbids all timestamps but
the first and the end of the text, and ends a text after 100 tokens.

fullsize-whisper.py FOLDER [--size tiny|base|small|large-v3-turbo] [--precision fp32|int8|fp16] [--words]

FOLDER then holds encoder_model.onnx, decoder_model_merged.onnx and the JSON files of a model folder.
needs: pip install numpy torch transformers tokenizers onnx onnxruntime openai-whisper==20250625
"""
import argparse
import hashlib
import json
import os
import tempfile
from importlib.machinery import SourceFileLoader

import numpy as np
import onnx
import torch
import whisper
from onnx import TensorProto, helper, numpy_helper
from transformers import WhisperConfig, WhisperForConditionalGeneration
from transformers.cache_utils import DynamicCache, DynamicLayer, EncoderDecoderCache

SIZES = {
    # width, heads, layers of the encoder, layers of the decoder, mel bands, languages, alignment heads
    "tiny": (384, 6, 4, 4, 80, 99, [[2, 2], [3, 0], [3, 2], [3, 3], [3, 4], [3, 5]]),
    "base": (512, 8, 6, 6, 80, 99, [[3, 1], [4, 2], [4, 3], [4, 7], [5, 1], [5, 2], [5, 4], [5, 6]]),
    "small": (768, 12, 12, 12, 80, 99, [[5, 3], [5, 9], [8, 0], [8, 4], [8, 7], [8, 8], [9, 0], [9, 7], [9, 9], [10, 5]]),
    "large-v3-turbo": (1280, 20, 32, 4, 128, 100, [[2, 4], [2, 11], [3, 3], [3, 6], [3, 11], [3, 14]]),
}


TOKENS = 100


def hf_config(width, heads, encoder_layers, decoder_layers, bands, vocabulary, eot):
    return WhisperConfig(
        vocab_size=vocabulary,
        num_mel_bins=bands,
        d_model=width,
        encoder_layers=encoder_layers,
        decoder_layers=decoder_layers,
        encoder_attention_heads=heads,
        decoder_attention_heads=heads,
        encoder_ffn_dim=4 * width,
        decoder_ffn_dim=4 * width,
        pad_token_id=eot,
        bos_token_id=eot,
        eos_token_id=eot,
        decoder_start_token_id=eot + 1,
        attn_implementation="eager",
    )


class Encoder(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.encoder = model.model.encoder

    def forward(self, input_features):
        return self.encoder(input_features).last_hidden_state


class Decoder(torch.nn.Module):
    """Common to both branches: the outputs and their order."""

    def __init__(self, model, words):
        super().__init__()
        self.decoder = model.model.decoder
        self.head = model.proj_out
        self.layers = model.config.decoder_layers
        self.words = words

    def run(self, ids, hidden, cache, past):
        result = self.decoder(
            input_ids=ids,
            encoder_hidden_states=hidden,
            past_key_values=cache,
            position_ids=torch.arange(ids.shape[1]).unsqueeze(0) + past,
            use_cache=True,
            output_attentions=True,
        )
        attentions = list(result.cross_attentions) if self.words else []
        own = [(layer.keys, layer.values) for layer in cache.self_attention_cache.layers]
        other = [(layer.keys, layer.values) for layer in cache.cross_attention_cache.layers]
        return self.head(result.last_hidden_state), own, other, attentions


class First(Decoder):
    def forward(self, ids, hidden):
        cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        logits, own, other, attentions = self.run(ids, hidden, cache, 0)
        states = [state for pair, cross in zip(own, other) for state in (*pair, *cross)]
        return (logits, *states, *attentions)


class Next(Decoder):
    def forward(self, ids, *past):
        cache = EncoderDecoderCache(DynamicCache(), DynamicCache())
        for layer in range(self.layers):
            own_key, own_value, cross_key, cross_value = past[4 * layer : 4 * layer + 4]
            cache.self_attention_cache.layers.append(held(own_key, own_value))
            cache.cross_attention_cache.layers.append(held(cross_key, cross_value))
            cache.is_updated[layer] = True
        width = self.decoder.config.d_model
        logits, own, _, attentions = self.run(ids, torch.zeros(ids.shape[0], 1, width), cache, past[0].shape[2])
        return (logits, *[state for pair in own for state in pair], *attentions)


def held(key, value):
    """`update` would join them to an empty tensor, and the graph would copy them in every step. Public exports do not."""
    layer = DynamicLayer()
    layer.lazy_initialization(key, value)
    layer.keys, layer.values = key, value
    return layer


def state_names(prefix, layers, kinds=("decoder", "encoder")):
    return [f"{prefix}.{i}.{kind}.{part}" for i in range(layers) for kind in kinds for part in ("key", "value")]


def export(model, folder, words=False, share_turned=True):
    """Writes encoder_model.onnx and decoder_model_merged.onnx with the names of the public exports."""
    model = model.eval().requires_grad_(False)
    config = model.config
    layers, heads = config.decoder_layers, config.decoder_attention_heads
    # Two windows at once, so that the export does not fix the number at one.
    features = torch.zeros(2, config.num_mel_bins, 3000)
    hidden = torch.randn(2, 1500, config.d_model)
    past = [torch.randn(2, heads, n, config.d_model // heads) for _ in range(layers) for n in (5, 5, 1500, 1500)]
    attentions = [f"cross_attentions.{i}" for i in range(layers)] if words else []
    with tempfile.TemporaryDirectory() as work:
        first, following = f"{work}/first.onnx", f"{work}/next.onnx"
        options = {"dynamo": False, "opset_version": 17}
        torch.onnx.export(
            Encoder(model),
            (features,),
            f"{folder}/encoder_model.onnx",
            input_names=["input_features"],
            output_names=["last_hidden_state"],
            dynamic_axes={name: {0: "batch"} for name in ("input_features", "last_hidden_state")},
            **options,
        )
        batch = {0: "batch"}
        axes = {name: batch | {1: "length"} for name in ("input_ids", "logits")}
        axes |= {name: batch | {2: "length"} for name in attentions}
        own_states = state_names("present", layers, ["decoder"])
        other = lambda prefix: {name: batch for name in state_names(prefix, layers, ["encoder"])}
        torch.onnx.export(
            First(model, words),
            (torch.ones(2, 3, dtype=torch.int64), hidden),
            first,
            input_names=["input_ids", "encoder_hidden_states"],
            output_names=["logits", *state_names("present", layers), *attentions],
            dynamic_axes=axes | other("present") | {"encoder_hidden_states": batch} | {name: batch | {2: "past"} for name in own_states},
            **options,
        )
        own_past = state_names("past_key_values", layers, ["decoder"])
        torch.onnx.export(
            Next(model, words),
            (torch.ones(2, 1, dtype=torch.int64), *past),
            following,
            input_names=["input_ids", *state_names("past_key_values", layers)],
            output_names=["logits", *own_states, *attentions],
            dynamic_axes=axes | other("past_key_values") | {name: batch | {2: "past"} for name in [*own_states, *own_past]},
            **options,
        )
        merged = merge(onnx.load(first), onnx.load(following), config, attentions, share_turned)
        onnx.save(merged, f"{folder}/decoder_model_merged.onnx")


def merge(first, following, config, attentions, share_turned):
    """One graph with an If over `use_cache_branch`, whose branches share their weights.

    With `share_turned`, the embedding serves as the last layer too, as in the public exports.
    """
    layers, heads, width = config.decoder_layers, config.decoder_attention_heads, config.d_model
    shared = {}

    def branch(graph, prefix):
        names = {value.name: value.name for value in graph.input}
        turned = []
        for tensor in graph.initializer:
            twin = share_turned and shared.get(key_of(numpy_helper.to_array(tensor).T))
            if twin and tensor.dims != twin.dims:
                names[tensor.name] = prefix + tensor.name
                turned.append(helper.make_node("Transpose", [twin.name], [prefix + tensor.name], perm=[1, 0]))
            else:
                names[tensor.name] = share(numpy_helper.to_array(tensor))
        rename = lambda name: "" if name == "" else names.setdefault(name, prefix + name)
        for node in graph.node:
            node.name = prefix + node.name
            node.input[:] = [rename(name) for name in node.input]
            node.output[:] = [rename(name) for name in node.output]
            for attribute in node.attribute:
                assert attribute.type not in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS), node.op_type
        return [*turned, *graph.node], {value.name: rename(value.name) for value in graph.output}

    def key_of(values):
        return (str(values.dtype), values.shape, hashlib.sha256(values.tobytes()).digest())

    def share(values):
        key = key_of(values)
        if key not in shared:
            shared[key] = numpy_helper.from_array(values, f"weight_{len(shared)}")
        return shared[key].name

    head = width // heads
    state = lambda name, length: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", heads, length, head])
    inputs = [
        helper.make_tensor_value_info("input_ids", TensorProto.INT64, ["batch", "length"]),
        helper.make_tensor_value_info("encoder_hidden_states", TensorProto.FLOAT, ["batch", "positions", width]),
        *[state(name, "past_own" if ".decoder." in name else "past_cross") for name in state_names("past_key_values", layers)],
        helper.make_tensor_value_info("use_cache_branch", TensorProto.BOOL, [1]),
    ]
    outputs = [
        helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["batch", "length", config.vocab_size]),
        *[state(name, "own" if ".decoder." in name else "cross") for name in state_names("present", layers)],
        *[helper.make_tensor_value_info(n, TensorProto.FLOAT, ["batch", heads, "length", "positions"]) for n in attentions],
    ]
    wanted = [value.name for value in outputs]
    branches = {}
    for name, model, prefix in (("else_branch", first, "first_"), ("then_branch", following, "next_")):
        nodes, renamed = branch(model.graph, prefix)
        for output in wanted:
            if output in renamed:
                continue
            # The second branch has no cross-attention states to return. Like optimum, it returns those of zero windows.
            renamed[output] = f"{prefix}{output}"
            none = numpy_helper.from_array(np.zeros((0, heads, 1, head), dtype=np.float32))
            nodes.append(helper.make_node("Constant", [], [renamed[output]], value=none))
        values = [helper.make_tensor_value_info(renamed[value.name], value.type.tensor_type.elem_type, None) for value in outputs]
        branches[name] = helper.make_graph(nodes, name, [], values)
    nodes = [helper.make_node("If", ["use_cache_branch"], wanted, **branches)]
    graph = helper.make_graph(nodes, "merged", inputs, outputs, list(shared.values()))
    result = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return result


def write_configs(folder, config, ids, alignment_heads, multilingual=True):
    """`ids` of the special tokens by name."""
    codes = [name for name in ids if len(name) <= 7 and name[2:-2].isalpha()]
    generation = {
        "alignment_heads": alignment_heads,
        "begin_suppress_tokens": [220, ids["<|endoftext|>"]],
        "decoder_start_token_id": ids["<|startoftranscript|>"],
        "eos_token_id": ids["<|endoftext|>"],
        "is_multilingual": multilingual,
        "lang_to_id": {name: ids[name] for name in codes},
        "no_timestamps_token_id": ids["<|notimestamps|>"],
        "task_to_id": {"transcribe": ids["<|transcribe|>"], "translate": ids["<|translate|>"]},
    }
    write(folder, "generation_config.json", generation)
    write(folder, "config.json", config.to_dict())
    write(folder, "preprocessor_config.json", {"feature_size": config.num_mel_bins, "sampling_rate": 16000})


def write(folder, name, value):
    with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
        json.dump(value, file)


def read(folder, name):
    with open(f"{folder}/{name}", encoding="utf-8") as file:
        return json.load(file)


def halved(graph):
    """Half precision inside, and states of half precision at the edges, as in exports for graphics cards."""
    from onnxruntime.transformers.float16 import convert_float_to_float16

    kept = [value.name for value in (*graph.graph.input, *graph.graph.output) if "key_values" not in value.name and "present" not in value.name]
    return convert_float_to_float16(graph, keep_io_types=kept, disable_shape_infer=True)


def quantized(folder, name):
    """Weights of matrices in eight bits, as in the hub's `_int8` and `_quantized`."""
    from onnxruntime.quantization import QuantType, quantize_dynamic

    path = f"{folder}/{name}.onnx"
    options = {"EnableSubgraph": True, "MatMulConstBOnly": True}
    quantize_dynamic(path, path, weight_type=QuantType.QInt8, extra_options=options, op_types_to_quantize=["MatMul", "Gather"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--size", choices=SIZES, default="tiny")
    parser.add_argument("--precision", choices=["fp32", "int8", "fp16"], default="fp32")
    parser.add_argument("--words", action="store_true")
    options = parser.parse_args()
    golden = SourceFileLoader("golden", os.path.join(os.path.dirname(__file__), "golden/whisper-features.py")).load_module()
    *shape, languages, alignment_heads = SIZES[options.size]
    os.makedirs(options.folder, exist_ok=True)
    assets = os.path.join(os.path.dirname(whisper.__file__), "assets")
    golden.vocabulary(options.folder, f"{assets}/multilingual.tiktoken", languages)
    ids = {token["content"]: token["id"] for token in read(options.folder, "tokenizer.json")["added_tokens"]}
    config = hf_config(*shape, max(ids.values()) + 1, ids["<|endoftext|>"])
    torch.manual_seed(1)
    model = WhisperForConditionalGeneration(config)
    with torch.no_grad():
        # Confident and without repetition: good enough for the first temperature.
        model.model.decoder.embed_tokens.weight.mul_(25)
        model.model.decoder.embed_positions.weight.mul_(400)
    export(model, options.folder, options.words, options.precision != "int8")
    config.max_target_positions = 2 * TOKENS
    write_configs(options.folder, config, ids, alignment_heads)
    generation = read(options.folder, "generation_config.json")
    late = range(ids["<|0.00|>"] + 1, config.vocab_size)
    write(options.folder, "generation_config.json", {**generation, "suppress_tokens": [ids["<|endoftext|>"], *late]})
    if options.precision == "int8":
        for name in ("encoder_model", "decoder_model_merged"):
            quantized(options.folder, name)
    if options.precision == "fp16":
        for name in ("encoder_model", "decoder_model_merged"):
            path = f"{options.folder}/{name}.onnx"
            onnx.save(halved(onnx.load(path)), path)


if __name__ == "__main__":
    main()
