"""Published Whisper weights as packages ship them (CTranslate2, half precision) to the two graphs that sherpa-onnx reads.

sherpa-whisper.py CT2 OUT      OUT/{fp32,int8}/{encoder,decoder}.onnx, and OUT/tokens.txt at the end

The encoder puts out the keys and values of the sound for all layers of the decoder, and the decoder writes into a cache
of full length. Notes inside the files name the tokens. Inputs, outputs, notes and what is rounded to 8 bits are those
of its own export.
needs: as whisper.py
"""
import base64
import json
import os
import sys
import tempfile

import numpy as np
import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import nn
from transformers import WhisperForConditionalGeneration
from transformers.models.whisper.tokenization_whisper import bytes_to_unicode

from whisper import checkpoint


def noted(source, target, notes):
    model = onnx.load(source)
    del model.metadata_props[:]
    for key, value in notes.items():
        model.metadata_props.add(key=key, value=str(value))
    onnx.save(model, target)


def attended(layer, x, keys, values, mask=None):
    heads, width = layer.num_heads, layer.head_dim

    def split(states):
        return states.view(states.shape[0], -1, heads, width).transpose(1, 2)

    odds = split(layer.q_proj(x) * layer.scaling) @ split(keys).transpose(2, 3)
    odds = odds if mask is None else odds + mask
    return layer.out_proj((torch.softmax(odds, -1) @ split(values)).transpose(1, 2).flatten(2))


def block_end(layer, x):
    return x + layer.fc2(layer.activation_fn(layer.fc1(layer.final_layer_norm(x))))


def whisper_parts(model):
    """Both graphs, as modules. A sound may be shorter than 30 s."""
    encoder, decoder = model.model.encoder, model.model.decoder

    # What is not registered as a part would be traced as constants that need a gradient.
    class Encoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = nn.ModuleList([encoder, decoder])

        def forward(self, mel):
            x = nn.functional.gelu(encoder.conv2(nn.functional.gelu(encoder.conv1(mel)))).permute(0, 2, 1)
            x = x + encoder.embed_positions.weight[:x.shape[1]]
            for layer in encoder.layers:
                own, normal = layer.self_attn, layer.self_attn_layer_norm(x)
                x = x + attended(own, normal, own.k_proj(normal), own.v_proj(normal))
                x = block_end(layer, x)
            x = encoder.layer_norm(x)
            sounds = [layer.encoder_attn for layer in decoder.layers]
            return torch.stack([one.k_proj(x) for one in sounds]), torch.stack([one.v_proj(x) for one in sounds])

    class Decoder(nn.Module):
        def __init__(self):
            super().__init__()
            self.decoder = decoder
            size = decoder.embed_positions.weight.shape[0]
            self.register_buffer("mask", torch.full((size, size), -np.inf).triu(1))

        def forward(self, tokens, own_keys, own_values, sound_keys, sound_values, offset):
            begin, end = offset[0], offset[0] + tokens.shape[-1]
            x = decoder.embed_tokens(tokens) + decoder.embed_positions.weight[begin:end]
            mask = self.mask[begin:end, :end]
            for at, layer in enumerate(decoder.layers):
                own, normal = layer.self_attn, layer.self_attn_layer_norm(x)
                own_keys[at, :, begin:end] = own.k_proj(normal)
                own_values[at, :, begin:end] = own.v_proj(normal)
                x = x + attended(own, normal, own_keys[at, :, :end], own_values[at, :, :end], mask)
                normal = layer.encoder_attn_layer_norm(x)
                x = x + attended(layer.encoder_attn, normal, sound_keys[at], sound_values[at])
                x = block_end(layer, x)
            logits = decoder.embed_tokens.weight @ decoder.layer_norm(x).permute(0, 2, 1)
            return logits.permute(0, 2, 1), own_keys, own_values

    return Encoder().eval(), Decoder().eval()


def export_whisper(model, out):
    encoder, decoder = whisper_parts(model)
    shape = model.config
    mel = torch.zeros(1, shape.num_mel_bins, 3000)
    keys, values = encoder(mel)
    sound = {1: "n_audio", 2: "T"}
    torch.onnx.export(
        encoder, mel, f"{out}/encoder.onnx", opset_version=17, input_names=["mel"],
        output_names=["n_layer_cross_k", "n_layer_cross_v"],
        dynamic_axes={"mel": {0: "n_audio", 2: "T"}, "n_layer_cross_k": sound, "n_layer_cross_v": sound})
    cache = torch.zeros(shape.decoder_layers, 1, shape.max_target_positions, shape.d_model)
    own = {f"{way}_n_layer_self_{part}_cache": {1: "n_audio"} for way in ("in", "out") for part in "kv"}
    torch.onnx.export(
        decoder, (torch.tensor([[1]]), cache, cache.clone(), keys, values, torch.tensor([3])), f"{out}/decoder.onnx",
        opset_version=17, output_names=["logits", *list(own)[2:]],
        input_names=["tokens", *list(own)[:2], "n_layer_cross_k", "n_layer_cross_v", "offset"],
        dynamic_axes={"tokens": {0: "n_audio", 1: "n_tokens"}, **own, "n_layer_cross_k": sound,
                      "n_layer_cross_v": sound})


def whisper_notes(model, special, blank):
    shape, ids = model.config, model.generation_config
    languages = {name.strip("<|>"): id for name, id in ids.lang_to_id.items()}
    start, spoken = special["<|startoftranscript|>"], special["<|transcribe|>"]
    return {
        "model_type": "whisper-base", "version": 1, "n_mels": shape.num_mel_bins,
        "n_audio_ctx": shape.max_source_positions, "n_audio_state": shape.d_model,
        "n_audio_head": shape.encoder_attention_heads, "n_audio_layer": shape.encoder_layers,
        "n_vocab": shape.vocab_size, "n_text_ctx": shape.max_target_positions, "n_text_state": shape.d_model,
        "n_text_head": shape.decoder_attention_heads, "n_text_layer": shape.decoder_layers,
        "sot_sequence": f"{start},{languages['en']},{spoken}", "sot": start, "sot_index": 0,
        "all_language_tokens": ",".join(str(id) for id in languages.values()),
        "all_language_codes": ",".join(languages), "eot": special["<|endoftext|>"], "blank_id": blank,
        "is_multilingual": 1, "no_speech": special["<|nocaptions|>"], "transcribe": spoken,
        "translate": special["<|translate|>"], "sot_prev": special["<|startofprev|>"],
        "sot_lm": special["<|startoflm|>"], "no_timestamps": special["<|notimestamps|>"],
    }


def main(ct2, out):
    for kind in ("fp32", "int8"):
        os.makedirs(f"{out}/{kind}", exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out) as work, torch.no_grad():
        checkpoint(ct2, work)
        model = WhisperForConditionalGeneration.from_pretrained(work).eval()
        export_whisper(model, work)
        with open(f"{ct2}/tokenizer.json", encoding="utf-8") as file:
            tokenizer = json.load(file)
        special = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
        notes = whisper_notes(model, special, tokenizer["model"]["vocab"]["Ġ"])
        for name in ("encoder", "decoder"):
            noted(f"{work}/{name}.onnx", f"{out}/fp32/{name}.onnx", notes)
            quantize_dynamic(f"{out}/fp32/{name}.onnx", f"{out}/int8/{name}.onnx", op_types_to_quantize=["MatMul"],
                             weight_type=QuantType.QInt8)
    byte_of = {sign: byte for byte, sign in bytes_to_unicode().items()}
    with open(f"{out}/tokens.txt", "w", encoding="utf-8") as file:
        for word, id in sorted(tokenizer["model"]["vocab"].items(), key=lambda pair: pair[1]):
            if id < special["<|endoftext|>"]:
                file.write(f"{base64.b64encode(bytes(byte_of[sign] for sign in word)).decode()} {id}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
