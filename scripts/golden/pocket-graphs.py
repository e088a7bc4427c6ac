"""The five graphs of Pocket TTS with random weights, of any size, written as KevinAHM's exporter lays them out: the same
names, states and `bundle.json` (schema 2). For pocket.py, which proves the maths against Kyutai's package, and
for fullsize-pocket.py, which measures.

Needs torch, onnx, onnxscript; numpy and sentencepiece through its callers.
"""
import json
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F


@dataclass(frozen=True)
class Size:
    """Kyutai's english_2026-04 by default."""

    layers: int = 6
    width: int = 1024
    heads: int = 16
    latent: int = 32
    flow_width: int = 512
    flow_depth: int = 6
    tokens: int = 4000
    positions: int = 1000
    codec_width: int = 512
    codec_filters: int = 64
    codec_layers: int = 2
    codec_heads: int = 8
    codec_hidden: int = 2048
    codec_context: int = 250
    codec_positions: int = 1000
    ratios: tuple[int, ...] = (6, 5, 4)
    stride: int = 16
    """The ratio of the language model's frames to the codec's."""

    @property
    def frame(self):
        return math.prod(self.ratios) * self.stride


def shapes(size):
    """Weights by their names in Kyutai's package, with the number of inputs of each output."""
    w, c, n = size.width, size.codec_width, size.codec_filters
    found = {
        "flow_lm.conditioner.embed.weight": (size.tokens + 1, w),
        "flow_lm.emb_std": (size.latent,), "flow_lm.emb_mean": (size.latent,), "flow_lm.bos_emb": (size.latent,),
        "flow_lm.bos_before_voice": (1, 1, w), "flow_lm.input_linear.weight": (w, size.latent),
        "flow_lm.out_norm.weight": (w,), "flow_lm.out_norm.bias": (w,),
        "flow_lm.out_eos.weight": (1, w), "flow_lm.out_eos.bias": (1,),
        "flow_lm.speaker_proj_weight": (w, size.latent),
        "mimi.quantizer.output_proj.weight": (c, size.latent, 1),
        "mimi.upsample.convtr.convtr.weight": (c, 1, 2 * size.stride),
        "mimi.downsample.conv.conv.weight": (size.latent, c, 2 * size.stride),
    }

    def linear(name, out, into, bias=True):
        found[f"{name}.weight"] = (out, into)
        if bias:
            found[f"{name}.bias"] = (out,)

    def layer(name, width, hidden, scaled):
        linear(f"{name}.self_attn.in_proj", 3 * width, width, False)
        linear(f"{name}.self_attn.out_proj", width, width, False)
        linear(f"{name}.linear1", hidden, width, False)
        linear(f"{name}.linear2", width, hidden, False)
        for norm in ("norm1", "norm2"):
            found[f"{name}.{norm}.weight"] = found[f"{name}.{norm}.bias"] = (width,)
        if scaled:
            found[f"{name}.layer_scale_1.scale"] = found[f"{name}.layer_scale_2.scale"] = (width,)

    for i in range(size.layers):
        layer(f"flow_lm.transformer.layers.{i}", w, 4 * w, False)
    for side in ("encoder", "decoder"):
        for i in range(size.codec_layers):
            layer(f"mimi.{side}_transformer.transformer.layers.{i}", c, size.codec_hidden, True)
    f = size.flow_width
    for i in range(2):
        found[f"flow_lm.flow_net.time_embed.{i}.freqs"] = (128,)
        linear(f"flow_lm.flow_net.time_embed.{i}.mlp.0", f, 256)
        linear(f"flow_lm.flow_net.time_embed.{i}.mlp.2", f, f)
        found[f"flow_lm.flow_net.time_embed.{i}.mlp.3.alpha"] = (f,)
    linear("flow_lm.flow_net.cond_embed", f, w)
    linear("flow_lm.flow_net.input_proj", f, size.latent)
    for i in range(size.flow_depth):
        block = f"flow_lm.flow_net.res_blocks.{i}"
        found[f"{block}.in_ln.weight"] = found[f"{block}.in_ln.bias"] = (f,)
        linear(f"{block}.mlp.0", f, f)
        linear(f"{block}.mlp.2", f, f)
        linear(f"{block}.adaLN_modulation.1", 3 * f, f)
    linear("flow_lm.flow_net.final_layer.linear", size.latent, f)
    linear("flow_lm.flow_net.final_layer.adaLN_modulation.1", 2 * f, f)
    for name, kind, into, out, kernel, *_ in convolutions(size):
        found[f"mimi.{name}.{kind}.weight"] = (into, out, kernel) if kind == "convtr" else (out, into, kernel)
        found[f"mimi.{name}.{kind}.bias"] = (out,)
    return found


def convolutions(size):
    """The layers of the codec's encoder and decoder, in order: name, kind, channels in and out, kernel, stride."""
    n, c = size.codec_filters, size.codec_width
    found = [("encoder.model.0", "conv", 1, n, 7, 1)]
    at, width = 1, n
    for ratio in reversed(size.ratios):
        found += [(f"encoder.model.{at}.block.1", "conv", width, width // 2, 3, 1),
                  (f"encoder.model.{at}.block.3", "conv", width // 2, width, 1, 1),
                  (f"encoder.model.{at + 2}", "conv", width, 2 * width, 2 * ratio, ratio)]
        at, width = at + 3, 2 * width
    found.append((f"encoder.model.{at + 1}", "conv", width, c, 3, 1))
    found.append(("decoder.model.0", "conv", c, width, 7, 1))
    at = 1
    for ratio in size.ratios:
        found += [(f"decoder.model.{at + 1}", "convtr", width, width // 2, 2 * ratio, ratio),
                  (f"decoder.model.{at + 2}.block.1", "conv", width // 2, width // 4, 3, 1),
                  (f"decoder.model.{at + 2}.block.3", "conv", width // 4, width // 2, 1, 1)]
        at, width = at + 3, width // 2
    return found + [(f"decoder.model.{at + 1}", "conv", width, 1, 3, 1)]


def random_weights(size, seed, digits=None):
    """@param digits: rounds to this many binary places, so that a small model compresses well"""
    draw = torch.Generator().manual_seed(seed)
    weights = {}
    for name, shape in shapes(size).items():
        into = math.prod(shape[1:]) if len(shape) > 1 else 1
        if "convtr" in name and len(shape) == 3:
            into = 2 * shape[0] if shape[1] > 1 else 2
        value = torch.randn(shape, generator=draw) / math.sqrt(into)
        if name.endswith((".norm1.weight", ".norm2.weight", "out_norm.weight", "in_ln.weight", "alpha", "emb_std")):
            value = 1 + 0.1 * torch.randn(shape, generator=draw)
        elif name.endswith((".bias", "emb_mean", "scale")):
            value = 0.1 * torch.randn(shape, generator=draw)
        elif "embed.weight" in name or "bos" in name:
            value = torch.randn(shape, generator=draw)
        if digits is not None:
            value = torch.round(value * 2**digits) / 2**digits
        if name.endswith("freqs"):
            value = torch.exp(-math.log(10000) * torch.arange(128) / 128)
        weights[name] = value
    return weights


# --- the maths ---------------------------------------------------------------------------------------------------


def linear(weights, name, x):
    return F.linear(x, weights[f"{name}.weight"], weights.get(f"{name}.bias"))


def norm(weights, name, x, eps=1e-5):
    scale = weights[f"{name}.weight"]
    return F.layer_norm(x, tuple(scale.shape), scale, weights[f"{name}.bias"], eps)


def rotated(x, start):
    """Rotary positions over neighbouring pairs. @param x [1, time, heads, numbers]"""
    half = x.shape[-1] // 2
    rates = torch.exp(torch.arange(half, dtype=torch.float32) * (-math.log(10000) * 2 / x.shape[-1]))
    angles = (torch.arange(x.shape[1], dtype=torch.float32) + start).view(-1, 1, 1) * rates
    real, imaginary = x[..., 0::2], x[..., 1::2]
    cos, sin = torch.cos(angles), torch.sin(angles)
    return torch.stack([real * cos - imaginary * sin, real * sin + imaginary * cos], dim=-1).flatten(-2)


def layer(weights, name, x, heads, attend):
    """@param attend: queries, keys, values [1, time, heads, numbers] to the attention's result, of the same shape"""
    n = norm(weights, f"{name}.norm1", x)
    q, k, v = linear(weights, f"{name}.self_attn.in_proj", n).view(1, -1, 3, heads, x.shape[-1] // heads).unbind(2)
    y = linear(weights, f"{name}.self_attn.out_proj", attend(q, k, v).flatten(-2))
    x = x + y * weights.get(f"{name}.layer_scale_1.scale", 1)
    n = norm(weights, f"{name}.norm2", x)
    y = linear(weights, f"{name}.linear2", F.gelu(linear(weights, f"{name}.linear1", n)))
    return x + y * weights.get(f"{name}.layer_scale_2.scale", 1)


def attended(q, k, v, mask):
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    return F.scaled_dot_product_attention(q, k, v, mask).transpose(1, 2)


class Graph(nn.Module):
    """Its weights are buffers, so that the exporter treats them as weights, not as constants."""

    def __init__(self, size, weights, prefixes):
        super().__init__()
        self.size, self.weights = size, {k: v for k, v in weights.items() if k.startswith(prefixes)}
        for name, value in self.weights.items():
            self.register_buffer(name.replace(".", "__"), value)


class Main(Graph):
    def __init__(self, size, weights):
        super().__init__(size, weights, ("flow_lm.",))

    def forward(self, sequence, text_embeddings, states):
        size, weights = self.size, self.weights
        sequence = torch.where(torch.isnan(sequence), weights["flow_lm.bos_emb"], sequence)
        x = torch.cat([text_embeddings, linear(weights, "flow_lm.input_linear", sequence)], dim=1)
        outs = []
        for i, (cache, end, step) in enumerate(zip(states[0::3], states[1::3], states[2::3])):
            def attend(q, k, v):
                count = q.shape[1]
                q, k = rotated(q, step), rotated(k, step)
                whole = cache.clone()
                whole[0, :, step : step + count] = k
                whole[1, :, step : step + count] = v
                seen = whole[:, :, : step + count]
                rows = torch.arange(count).unsqueeze(1)
                columns = torch.arange(size.positions).unsqueeze(0)[:, : step + count]
                mask = torch.zeros(1).expand(count, columns.shape[1]).masked_fill(columns > rows + step, -math.inf)
                outs.extend([whole, end + 0, step + count])
                return attended(q, seen[0], seen[1], mask)

            x = layer(weights, f"flow_lm.transformer.layers.{i}", x, size.heads, attend)
        x = norm(weights, "flow_lm.out_norm", x)[:, text_embeddings.shape[1] :]
        # Without a sequence there is no condition, but the graph still needs an output.
        conditioning = torch.cat([x, torch.zeros(1, 1, size.width)], dim=1)[:, 0]
        return conditioning, linear(weights, "flow_lm.out_eos", conditioning), *outs


class Flow(Graph):
    def __init__(self, size, weights):
        super().__init__(size, weights, ("flow_lm.flow_net.",))

    def forward(self, c, s, t, x):
        weights, net = self.weights, "flow_lm.flow_net"
        times = 0
        for i, time in enumerate((s, t)):
            name = f"{net}.time_embed.{i}"
            angles = time * weights[f"{name}.freqs"]
            y = F.silu(linear(weights, f"{name}.mlp.0", torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)))
            y = linear(weights, f"{name}.mlp.2", y)
            # As in the package: the variance (over n - 1), not the mean square.
            spread = ((y - y.mean(-1, keepdim=True)) ** 2).sum(-1, keepdim=True) / (y.shape[-1] - 1)
            times = times + y * weights[f"{name}.mlp.3.alpha"] / torch.sqrt(1e-5 + spread)
        y = F.silu(times / 2 + linear(weights, f"{net}.cond_embed", c))
        x = linear(weights, f"{net}.input_proj", x)
        for i in range(self.size.flow_depth):
            block = f"{net}.res_blocks.{i}"
            shift, scale, gate = linear(weights, f"{block}.adaLN_modulation.1", y).chunk(3, dim=-1)
            h = norm(weights, f"{block}.in_ln", x, 1e-6) * (1 + scale) + shift
            x = x + gate * linear(weights, f"{block}.mlp.2", F.silu(linear(weights, f"{block}.mlp.0", h)))
        shift, scale = linear(weights, f"{net}.final_layer.adaLN_modulation.1", y).chunk(2, dim=-1)
        x = F.layer_norm(x, (self.size.flow_width,), eps=1e-6) * (1 + scale) + shift
        return linear(weights, f"{net}.final_layer.linear", x)


class Codec(Graph):
    """Shared by encoder and decoder: convolutions that only look back, and a transformer that sees `codec_context`."""

    def __init__(self, size, weights):
        super().__init__(size, weights, ("mimi.", "flow_lm.emb_", "flow_lm.speaker"))
        self.strides = {name: stride for name, *_, stride in convolutions(size)}

    def conv(self, name, x, states):
        weight = self.weights[f"mimi.{name}.conv.weight"]
        stride = self.strides[name]
        back = weight.shape[2] - stride
        if back > 0:
            x = torch.cat([states.get(f"{name}/previous", torch.zeros(1, weight.shape[1], back)), x], dim=-1)
            states[f"{name}/previous"] = x[..., -back:]
        return F.conv1d(x, weight, self.weights[f"mimi.{name}.conv.bias"], stride)

    def block(self, name, x, states):
        y = self.conv(f"{name}.block.1", F.elu(x), states)
        return x + self.conv(f"{name}.block.3", F.elu(y), states)

    def transformed(self, side, x, states):
        x = x.transpose(1, 2)
        for i in range(self.size.codec_layers):
            module = f"{side}_transformer.transformer.layers.{i}"
            attend = self.ring(f"{module}.self_attn", states) if side == "decoder" else self.window
            x = layer(self.weights, f"mimi.{module}", x, self.size.codec_heads, attend)
        return x.transpose(1, 2)

    def window(self, q, k, v):
        count = torch.arange(q.shape[1])
        distance = count.unsqueeze(1) - count.unsqueeze(0)
        mask = (distance >= 0) & (distance < self.size.codec_context)
        return attended(rotated(q, 0), rotated(k, 0), v, mask)

    def ring(self, name, states):
        """Keys and values in a ring, as in the exporter: [2, 1, heads, positions, numbers]."""

        def attend(q, k, v):
            cache, offset, end = (states[f"{name}/{key}"] for key in ("cache", "offset", "end_offset"))
            count, room = q.shape[1], cache.shape[3]
            q, k = rotated(q, offset), rotated(k, offset)
            places = (torch.arange(count) + end) % room
            index = places.view(1, 1, -1, 1).expand(1, k.shape[2], count, k.shape[3])
            keys = cache[0].scatter(2, index, k.transpose(1, 2))
            values = cache[1].scatter(2, index, v.transpose(1, 2))
            last = end + count - 1
            delta = torch.arange(room) - last % room
            held = torch.where(delta <= 0, last + delta, last + delta - room)
            held = torch.where(torch.arange(room) >= end + count, -1, held)
            distance = (offset + torch.arange(count)).view(-1, 1) - held
            mask = (held >= 0) & (distance >= 0) & (distance < self.size.codec_context)
            states[f"{name}/cache"] = torch.stack([keys, values])
            states[f"{name}/offset"], states[f"{name}/end_offset"] = offset + count, end + count
            y = F.scaled_dot_product_attention(q.transpose(1, 2), keys, values, mask)
            return y.transpose(1, 2)

        return attend


class Decoder(Codec):
    def __init__(self, size, weights):
        super().__init__(size, weights)
        self.names = [f"{entry['module']}/{entry['key']}" for entry in codec_states(size)]

    def forward(self, latent, flat):
        states = dict(zip(self.names, flat))
        weights = self.weights
        x = (latent * weights["flow_lm.emb_std"] + weights["flow_lm.emb_mean"]).transpose(1, 2)
        x = F.conv1d(x, weights["mimi.quantizer.output_proj.weight"])
        x = self.grown("upsample.convtr", x, self.size.stride, states, self.size.codec_width)
        x = self.transformed("decoder", x, states)
        x = self.conv("decoder.model.0", x, states)
        at = 1
        for ratio in self.size.ratios:
            x = self.grown(f"decoder.model.{at + 1}", F.elu(x), ratio, states)
            x = self.block(f"decoder.model.{at + 2}", x, states)
            at += 3
        x = self.conv(f"decoder.model.{at + 1}", F.elu(x), states)
        return x, *(states[name] for name in self.names)

    def grown(self, name, x, stride, states, groups=1):
        weights = self.weights
        bias = weights.get(f"mimi.{name}.convtr.bias")
        y = F.conv_transpose1d(x, weights[f"mimi.{name}.convtr.weight"], bias, stride, groups=groups)
        y = torch.cat([y[..., :stride] + states[f"{name}/partial"], y[..., stride:]], dim=-1)
        rest = y[..., -stride:]
        states[f"{name}/partial"] = rest if bias is None else rest - bias[:, None]
        return y[..., :-stride]


class Encoder(Codec):
    def forward(self, audio):
        states = {}
        x = self.conv("encoder.model.0", audio, states)
        at = 1
        for _ in self.size.ratios:
            x = self.block(f"encoder.model.{at}", x, states)
            x = self.conv(f"encoder.model.{at + 2}", F.elu(x), states)
            at += 3
        x = self.conv(f"encoder.model.{at + 1}", F.elu(x), states)
        x = self.transformed("encoder", x, states)
        x = torch.cat([x[..., :1].expand(1, self.size.codec_width, self.size.stride), x], dim=-1)
        x = F.conv1d(x, self.weights["mimi.downsample.conv.conv.weight"], None, self.size.stride)
        return F.linear(x.transpose(1, 2), self.weights["flow_lm.speaker_proj_weight"])


class Text(Graph):
    def __init__(self, size, weights):
        super().__init__(size, weights, ("flow_lm.conditioner.",))

    def forward(self, token_ids):
        return F.embedding(token_ids, self.weights["flow_lm.conditioner.embed.weight"])


# --- states and export -------------------------------------------------------------------------------------------


def manifest(entries):
    """@param entries: (module, key, shape, dtype, fill), sorted as the exporter does"""
    return [
        {
            "module": module, "key": key, "path": f"{module}/{key}", "dtype": dtype, "shape": list(shape),
            "fill": "empty" if 0 in shape else fill, "index": i, "input_name": f"state_{i}", "output_name": f"out_state_{i}",
        }
        for i, (module, key, shape, dtype, fill) in enumerate(sorted(entries))
    ]


def flow_states(size):
    entries = []
    for i in range(size.layers):
        module = f"transformer.layers.{i}.self_attn"
        shape = (2, 1, size.positions, size.heads, size.width // size.heads)
        entries += [(module, "cache", shape, "float32", "nan"), (module, "current_end", (0,), "float32", "zeros"),
                    (module, "step", (1,), "int64", "zeros")]
    return manifest(entries)


def codec_states(size):
    """The encoder's states too: they pass through the decoder's graph untouched."""
    entries = [("upsample.convtr", "partial", (1, size.codec_width, size.stride), "float32", "zeros")]
    convs = [*convolutions(size), ("downsample.conv", "conv", size.codec_width, 0, 2 * size.stride, size.stride)]
    for name, kind, into, out, kernel, stride in convs:
        if kind == "convtr":
            entries.append((name, "partial", (1, out, kernel - stride), "float32", "zeros"))
        else:
            entries.append((name, "previous", (1, into, kernel - stride), "float32", "zeros"))
            entries.append((name, "first", (1,), "bool", "ones"))
    for side in ("encoder", "decoder"):
        for i in range(size.codec_layers):
            module = f"{side}_transformer.transformer.layers.{i}.self_attn"
            shape = (2, 1, size.codec_heads, size.codec_positions, size.codec_width // size.codec_heads)
            entries += [(module, "cache", shape, "float32", "zeros"), (module, "offset", (1,), "int64", "zeros"),
                        (module, "end_offset", (1,), "int64", "zeros")]
    return manifest(entries)


def start(entries):
    kinds = {"float32": torch.float32, "int64": torch.int64, "bool": torch.bool}
    fills = {"nan": math.nan, "zeros": 0, "empty": 0, "ones": 1}
    return [torch.full(tuple(e["shape"]), fills[e["fill"]], dtype=kinds[e["dtype"]]) for e in entries]


def description(size, name, **fields):
    """The contents of `bundle.json`."""
    return {
        "schema_version": 2, "bundle_name": name, "language": name, "sample_rate": 24000, "frame_rate": 12.5,
        "samples_per_frame": size.frame, "latent_dim": size.latent, "conditioning_dim": size.width,
        "pad_with_spaces_for_short_inputs": False, "remove_semicolons": False,
        "model_recommended_frames_after_eos": None, "max_token_per_chunk": 50, "insert_bos_before_voice": True,
        "tokenizer_file": "tokenizer.model", "bos_before_voice_file": "bos_before_voice.npy", "predefined_voices": [],
        "flow_lm_state_manifest": flow_states(size), "mimi_state_manifest": codec_states(size), **fields,
    }


def written(bundle):
    return json.dumps(bundle, indent=2, sort_keys=True) + "\n"


def export_bundle(size, weights, folder, tokenizer, name="random", **fields):
    """Writes everything that `load` needs except the voices. @param tokenizer: bytes of a SentencePiece model"""
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.model").write_bytes(tokenizer)
    np.save(folder / "bos_before_voice.npy", weights["flow_lm.bos_before_voice"].numpy())
    bundle = description(size, name, **fields)
    flow, codec = bundle["flow_lm_state_manifest"], bundle["mimi_state_manifest"]
    (folder / "bundle.json").write_text(written(bundle))

    def export(file, module, args, inputs, outputs, axes, states=()):
        torch.onnx.export(
            module.eval(), args, str(folder / file), dynamo=False, opset_version=17,
            input_names=[*inputs, *(e["input_name"] for e in states)],
            output_names=[*outputs, *(e["output_name"] for e in states)],
            dynamic_axes={key: {axis: f"{key}_{axis}" for axis in value} for key, value in axes.items()},
        )

    with torch.no_grad():
        text = torch.randn(1, 3, size.width)
        export("text_conditioner.onnx", Text(size, weights), (torch.zeros(1, 5, dtype=torch.int64),), ["token_ids"],
               ["embeddings"], {"token_ids": [1]})
        export("flow_lm_main.onnx", Main(size, weights), (torch.randn(1, 1, size.latent), text, start(flow)),
               ["sequence", "text_embeddings"], ["conditioning", "eos_logit"], {"sequence": [1], "text_embeddings": [1]}, flow)
        rows = (torch.randn(1, size.width), torch.zeros(1, 1), torch.ones(1, 1), torch.randn(1, size.latent))
        export("flow_lm_flow.onnx", Flow(size, weights), rows, ["c", "s", "t", "x"], ["flow_dir"],
               {key: [0] for key in "cstx"})
        export("mimi_decoder.onnx", Decoder(size, weights), (torch.randn(1, 2, size.latent), start(codec)), ["latent"],
               ["audio_frame"], {"latent": [1]}, codec)
        export("mimi_encoder.onnx", Encoder(size, weights), (torch.randn(1, 1, 3 * size.frame),), ["audio"], ["latents"],
               {"audio": [2]})
