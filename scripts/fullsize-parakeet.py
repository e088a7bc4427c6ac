"""Parakeet TDT 0.6b v3 in its full size with random weights, to measure speed and memory without the real weights.

usage: fullsize-parakeet.py FOLDER [LAYERS]    writes FOLDER/fp32 and FOLDER/int8, 2.5 and 0.7 GB; needs 12 GB of memory
then:  bun scripts/bench.ts --only parakeet --models FOLDER

The encoder is the one from transformers with the published sizes; the decoder and joint are written here. The text is
nonsense. Half of the steps are blank and each advances by two frames, which is about what real speech takes.
needs: pip install torch transformers onnx onnxruntime
"""
import json
import os
import sys
import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import ParakeetEncoder, ParakeetEncoderConfig

folder = sys.argv[1]
layers = int(sys.argv[2]) if len(sys.argv) > 2 else 24
pieces, durations, hidden, bands, size = 8193, 5, 640, 128, 1024
torch.manual_seed(0)


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        config = ParakeetEncoderConfig(
            num_mel_bins=bands, hidden_size=size, num_hidden_layers=layers, attention_bias=False, convolution_bias=False,
            attn_implementation="eager",
        )
        self.encoder = ParakeetEncoder(config)

    def forward(self, audio_signal, length):
        frames = audio_signal.shape[2]
        mask = torch.arange(frames)[None, :] < length[:, None]
        heard = self.encoder(audio_signal.transpose(1, 2), attention_mask=mask).last_hidden_state
        return heard.transpose(1, 2), (length + 7) // 8


class DecoderJoint(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(pieces, hidden)
        self.lstm = torch.nn.LSTM(hidden, hidden, num_layers=2, batch_first=True)
        self.said = torch.nn.Linear(hidden, hidden)
        self.heard = torch.nn.Linear(size, hidden)
        self.top = torch.nn.Linear(hidden, pieces + durations)

    def forward(self, encoder_outputs, targets, target_length, input_states_1, input_states_2):
        said, (one, two) = self.lstm(self.embedding(targets.long()), (input_states_1, input_states_2))
        both = self.heard(encoder_outputs.transpose(1, 2))[:, :, None] + self.said(said)[:, None]
        return self.top(torch.relu(both)), target_length + 0, one, two

    def balance(self):
        """The blank wins half of the steps; each step advances by two frames."""
        with torch.no_grad():
            self.top.weight[pieces - 1].zero_()
            self.top.bias[pieces + 2] = 100
            zeros = torch.zeros(2, 1, hidden)
            best = []
            for token in range(64):
                frame, last = torch.randn(1, size, 1), torch.tensor([[token]])
                best.append(self(frame, last, torch.ones(1), zeros, zeros)[0][..., : pieces - 1].max())
            self.top.bias[pieces - 1] = torch.stack(best).median()


def export(model, name, inputs, arrays, outputs, axes):
    path = os.path.join(folder, "fp32", name)
    model.eval().requires_grad_(False)
    torch.onnx.export(
        model, arrays, path, input_names=inputs, output_names=outputs, dynamic_axes=axes, opset_version=17, dynamo=False
    )
    return path


def gather(path):
    """The exporter scatters large weights over many files. This puts them into one file beside the graph."""
    initializers = onnx.load(path, load_external_data=False).graph.initializer
    scattered = {entry.value for tensor in initializers for entry in tensor.external_data if entry.key == "location"}
    if not scattered:
        return
    beside = os.path.basename(path) + ".data"
    onnx.save_model(onnx.load(path), path, save_as_external_data=True, location=beside, size_threshold=1024)
    for name in scattered:
        os.remove(os.path.join(os.path.dirname(path), name))


for kind in ("fp32", "int8"):
    os.makedirs(os.path.join(folder, kind), exist_ok=True)
    with open(os.path.join(folder, kind, "vocab.txt"), "w", encoding="utf-8") as file:
        file.writelines(f"▁w{i} {i}\n" for i in range(pieces - 1))
        file.write(f"<blk> {pieces - 1}\n")
    with open(os.path.join(folder, kind, "config.json"), "w") as file:
        json.dump({"model_type": "nemo-conformer-tdt", "features_size": bands, "subsampling_factor": 8}, file)

joint = DecoderJoint()
joint.balance()
states = torch.zeros(2, 1, hidden)
small = export(
    joint, "decoder_joint-model.onnx",
    ["encoder_outputs", "targets", "target_length", "input_states_1", "input_states_2"],
    (torch.randn(1, size, 1), torch.zeros(1, 1, dtype=torch.int32), torch.ones(1, dtype=torch.int32), states, states),
    ["outputs", "prednet_lengths", "output_states_1", "output_states_2"],
    {"encoder_outputs": {0: "batch", 2: "time"}, "targets": {0: "batch", 1: "tokens"}},
)
quantize_dynamic(small, os.path.join(folder, "int8", "decoder_joint-model.onnx"), weight_type=QuantType.QUInt8)
large = export(
    Encoder(), "encoder-model.onnx", ["audio_signal", "length"],
    (torch.randn(1, bands, 401), torch.tensor([400])), ["outputs", "encoded_lengths"],
    {"audio_signal": {0: "batch", 2: "frames"}, "length": {0: "batch"}, "outputs": {0: "batch", 2: "encoded"}},
)
gather(large)
quantize_dynamic(large, os.path.join(folder, "int8", "encoder-model.onnx"), weight_type=QuantType.QUInt8)
