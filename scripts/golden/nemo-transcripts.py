"""A small Parakeet with random weights, built and exported by NVIDIA NeMo itself, and NeMo's transcripts with it.

usage: nemo-transcripts.py FOLDER CLIP...
  CLIP: raw signed 16-bit mono, 16 kHz
writes FOLDER/fp32 and FOLDER/int8, laid out as the published models are, and FOLDER/heard.json: for each clip a few
frames of NeMo's features, the tokens, their frames and durations, the text, words and segments; and NeMo's text for
the tokens of a sentence in each of the 25 languages of v3.
needs: pip install "nemo_toolkit[asr]==2.5.3" nv_one_logger_core nv_one_logger_training_telemetry \
  nv_one_logger_pytorch_lightning_integration onnxruntime "numpy<2" "pyarrow<20" "pandas<2.3" "datasets<4"
"""
import json
import os
import sys
import tempfile
import numpy as np
import onnxruntime
import sentencepiece
import torch
from omegaconf import OmegaConf

torch.set_num_threads(2)
torch.manual_seed(7)
exporter = torch.onnx.export


def export_as_then(*args, **options):
    """NeMo uses the exporter that was torch's own when the models were published."""
    options.pop("export_modules_as_functions", None)
    return exporter(*args, **options, dynamo=False)


torch.onnx.export = export_as_then
import nemo.collections.asr as nemo_asr  # noqa: E402
from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: E402

folder, clips = sys.argv[1], sys.argv[2:]
os.makedirs(os.path.join(folder, "fp32"), exist_ok=True)
os.makedirs(os.path.join(folder, "int8"), exist_ok=True)

sentences = [
    "All human beings are born free and equal in dignity and rights. Isn't it so? Yes, it is!",
    "Всички хора се раждат свободни и равни по достойнство и права.",
    "Sva ljudska bića rađaju se slobodna i jednaka u dostojanstvu i pravima.",
    "Všichni lidé rodí se svobodní a sobě rovní co do důstojnosti a práv.",
    "Alle mennesker er født frie og lige i værdighed og rettigheder.",
    "Alle mensen worden vrij en gelijk in waardigheid en rechten geboren.",
    "Kõik inimesed sünnivad vabadena ja võrdsetena oma väärikuselt ja õigustelt.",
    "Kaikki ihmiset syntyvät vapaina ja tasavertaisina arvoltaan ja oikeuksiltaan.",
    "Tous les êtres humains naissent libres et égaux en dignité et en droits. Qu'est-ce que c'est ? L'été.",
    "Alle Menschen sind frei und gleich an Würde und Rechten geboren. „Größe“ – 20 % und 3,5 €.",
    "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα. Τι κάνεις;",
    "Minden emberi lény szabadon születik és egyenlő méltósága és joga van.",
    "Tutti gli esseri umani nascono liberi ed eguali in dignità e diritti. L'amico.",
    "Visi cilvēki piedzimst brīvi un vienlīdzīgi savā pašcieņā un tiesībās.",
    "Visi žmonės gimsta laisvi ir lygūs savo orumu ir teisėmis.",
    "Il-bnedmin kollha jitwieldu ħielsa u ugwali fid-dinjità u d-drittijiet.",
    "Wszyscy ludzie rodzą się wolni i równi pod względem swej godności i swych praw.",
    "Todos os seres humanos nascem livres e iguais em dignidade e em direitos.",
    "Toate ființele umane se nasc libere și egale în demnitate și în drepturi.",
    "Všetci ľudia sa rodia slobodní a rovní v dôstojnosti a právach.",
    "Vsi ljudje se rodijo svobodni in imajo enako dostojanstvo in enake pravice.",
    "Todos los seres humanos nacen libres e iguales en dignidad y derechos. ¿Qué tal? ¡Muy bien!",
    "Alla människor är födda fria och lika i värde och rättigheter.",
    "Все люди рождаются свободными и равными в своём достоинстве и правах.",
    "Всі люди народжуються вільними і рівними у своїй гідності та правах. П'ять, з’їзд.",
]
special = ["<|nospeech|>", "<pad>", "<|endoftext|>", "<|pnc|>", "<|en|>", "<|emo:undefined|>", "<|0|>"]
tokenizer_dir = os.path.join(folder, "tokenizer")
os.makedirs(tokenizer_dir, exist_ok=True)
with open(os.path.join(tokenizer_dir, "text.txt"), "w", encoding="utf-8") as file:
    file.writelines(f"{sentence}\n" for sentence in sentences)
sentencepiece.SentencePieceTrainer.train(
    input=os.path.join(tokenizer_dir, "text.txt"), model_prefix=os.path.join(tokenizer_dir, "tokenizer"),
    vocab_size=320, model_type="bpe", character_coverage=1.0, bos_id=-1, eos_id=-1, unk_id=0,
    user_defined_symbols=special, minloglevel=2,
)
processor = sentencepiece.SentencePieceProcessor(model_file=os.path.join(tokenizer_dir, "tokenizer.model"))
with open(os.path.join(tokenizer_dir, "vocab.txt"), "w", encoding="utf-8") as file:
    file.writelines(f"{processor.id_to_piece(i)}\n" for i in range(1, processor.get_piece_size()))

# The published configuration, narrower and with two layers of twenty-four.
config = OmegaConf.create({
    "sample_rate": 16000, "compute_eval_loss": False, "log_prediction": False, "rnnt_reduction": "mean_volume",
    "skip_nan_grad": False, "train_ds": None, "validation_ds": None, "test_ds": None,
    "model_defaults": {"enc_hidden": 16, "pred_hidden": 8, "joint_hidden": 8, "tdt_durations": [0, 1, 2, 3, 4],
                       "num_tdt_durations": 5},
    "tokenizer": {"dir": tokenizer_dir, "type": "bpe"},
    "preprocessor": {"_target_": "nemo.collections.asr.modules.AudioToMelSpectrogramPreprocessor",
                     "sample_rate": 16000, "normalize": "per_feature", "window_size": 0.025, "window_stride": 0.01,
                     "window": "hann", "features": 128, "n_fft": 512, "log": True, "frame_splicing": 1,
                     "dither": 1e-05, "pad_to": 0, "pad_value": 0.0},
    "encoder": {"_target_": "nemo.collections.asr.modules.ConformerEncoder", "feat_in": 128, "feat_out": -1,
                "n_layers": 2, "d_model": 16, "use_bias": False, "subsampling": "dw_striding",
                "subsampling_factor": 8, "subsampling_conv_channels": 8, "causal_downsampling": False,
                "reduction": None, "reduction_position": None, "reduction_factor": 1, "ff_expansion_factor": 4,
                "self_attention_model": "rel_pos", "n_heads": 4, "att_context_size": [-1, -1],
                "att_context_style": "regular", "xscaling": False, "untie_biases": True, "pos_emb_max_len": 400,
                "conv_kernel_size": 9, "conv_norm_type": "batch_norm", "conv_context_size": None, "dropout": 0.1,
                "dropout_pre_encoder": 0.1, "dropout_emb": 0.0, "dropout_att": 0.1},
    "decoder": {"_target_": "nemo.collections.asr.modules.RNNTDecoder", "normalization_mode": None,
                "random_state_sampling": False, "blank_as_pad": True,
                "prednet": {"pred_hidden": 8, "pred_rnn_layers": 2, "t_max": None, "dropout": 0.2}},
    "joint": {"_target_": "nemo.collections.asr.modules.RNNTJoint", "log_softmax": None, "preserve_memory": False,
              "fuse_loss_wer": True, "fused_batch_size": 4, "num_extra_outputs": 5,
              "jointnet": {"joint_hidden": 8, "activation": "relu", "dropout": 0.2}},
    "decoding": {"strategy": "greedy_batch", "model_type": "tdt", "durations": [0, 1, 2, 3, 4],
                 "greedy": {"max_symbols": 10, "use_cuda_graph_decoder": False},
                 "beam": {"beam_size": 2, "return_best_hypothesis": False, "score_norm": True}},
    "loss": {"loss_name": "tdt", "tdt_kwargs": {"durations": [0, 1, 2, 3, 4], "sigma": 0.02, "omega": 0.1}},
    "optim": {"name": "adamw", "lr": 1e-4},
})
model = nemo_asr.models.EncDecRNNTBPEModel(cfg=config)
model.eval()
OmegaConf.update(model.cfg, "validation_ds", {"use_start_end_token": False}, force_add=True)
size = len(model.tokenizer.vocab)


def spread(linear, inputs):
    """Gives each of its numbers mean 0 and deviation 1 over these inputs."""
    given = linear(inputs)
    linear.bias.sub_(given.mean(0)).div_(given.std(0))
    linear.weight.div_(given.std(0)[:, None])
    return linear(inputs)


@torch.no_grad()
def balance(pcms):
    """Freshly drawn weights hardly distinguish sounds, and would write one token forever."""
    measured = [model.preprocessor(input_signal=pcm[None], length=torch.tensor([len(pcm)])) for pcm in pcms]
    entering = []
    entrance = model.encoder.pre_encode.out
    hook = entrance.register_forward_hook(lambda _module, inputs, _output: entering.append(inputs[0][0]))
    for features, frames in measured:
        model.encoder(audio_signal=features, length=frames)
    hook.remove()
    spread(entrance, torch.cat(entering))
    encoded = [model.encoder(audio_signal=features, length=frames)[0][0].T for features, frames in measured]
    heard = spread(model.joint.enc, torch.cat(encoded))
    for tensor in model.decoder.parameters():
        tensor.mul_(3)
    said = model.decoder(targets=torch.randint(1, size, (1, 2000)), target_length=torch.tensor([2000]))[0][0].T
    said = spread(model.joint.pred, said)[torch.randint(0, 2000, (len(heard),))]
    top = model.joint.joint_net[-1]
    top.weight.normal_()
    top.bias.sub_(top(torch.relu(heard + said)).mean(0))
    top.bias[0] = -50  # drop what the tokenizer does not know


def heard_by(paths, blank_bias):
    model.joint.joint_net[-1].bias.data[size] = blank_bias
    heard = model.transcribe(paths, batch_size=1, timestamps=True, return_hypotheses=True, verbose=False)
    model.eval()  # which NeMo leaves ready to train
    return heard


def as_wav(path):
    import soundfile
    wav = os.path.join(scratch, os.path.basename(path) + ".wav")
    soundfile.write(wav, np.fromfile(path, dtype="<i2"), 16000, subtype="PCM_16")
    return wav


with tempfile.TemporaryDirectory() as scratch:
    balance([torch.from_numpy(np.fromfile(path, dtype="<i2").astype(np.float32) / 32768) for path in clips])
    wavs = [as_wav(path) for path in clips]
    low, high = -20.0, 60.0
    for _ in range(10):
        middle = (low + high) / 2
        hypotheses = heard_by(wavs[:3], middle)
        tokens = sum(len(hypothesis.y_sequence) for hypothesis in hypotheses)
        seconds = sum(len(np.fromfile(path, dtype="<i2")) for path in clips[:3]) / 16000
        low, high = (middle, high) if tokens / seconds > 4 else (low, middle)
    print("blank bias", middle, "tokens a second", tokens / seconds)
    hypotheses = heard_by(wavs, middle)
    heard = {}
    encodings = []
    for path, wav, hypothesis in zip(clips, wavs, hypotheses):
        pcm = torch.from_numpy(np.fromfile(path, dtype="<i2").astype(np.float32) / 32768)[None]
        lengths = torch.tensor([pcm.shape[1]])
        with torch.no_grad():
            features, frames = model.preprocessor(input_signal=pcm, length=lengths)
            encoded, encoded_lengths = model.encoder(audio_signal=features, length=frames)
        taken = [int(frames[0]) // 5, int(frames[0]) - 1]
        encodings.append((features, frames, encoded))
        stamps = hypothesis.timestamp
        heard[os.path.basename(path)] = {
            "featureFrames": int(frames[0]),
            "encodedFrames": int(encoded_lengths[0]),
            "features": {str(at): [round(float(value), 4) for value in features[0, :, at]] for at in taken},
            "tokens": [int(token) for token in hypothesis.y_sequence],
            "frames": [int(frame) for frame in stamps["timestep"]],
            "durations": [int(duration) for duration in hypothesis.token_duration],
            "text": hypothesis.text,
            "words": [[w["word"], w["start_offset"], w["end_offset"]] for w in stamps["word"]],
            "segments": [[s["segment"], s["start_offset"], s["end_offset"]] for s in stamps["segment"]],
        }
    said = []
    for sentence in sentences:
        ids = model.tokenizer.text_to_ids(sentence)
        said.append([ids, model.decoding.decode_tokens_to_str_with_strip_punctuation(ids)])
    heard = {"clips": heard, "texts": said}
    with open(os.path.join(folder, "heard.json"), "w", encoding="utf-8") as file:
        json.dump(heard, file, ensure_ascii=False)

# As many positions as 24 s have frames. Otherwise the longest clip would decide.
del model.encoder.pos_enc.pe
model.encoder.set_max_audio_length(300)
model.export(os.path.join(folder, "fp32", "model.onnx"))
session = onnxruntime.InferenceSession(os.path.join(folder, "fp32", "encoder-model.onnx"))
for features, frames, encoded in encodings:
    given = session.run(["outputs"], {"audio_signal": features.numpy(), "length": frames.numpy()})[0]
    assert np.abs(given - encoded.numpy()).max() < 1e-3, "the exported encoder is another"
vocabulary = [*model.tokenizer.vocab, "<blk>"]
for kind in ("fp32", "int8"):
    with open(os.path.join(folder, kind, "vocab.txt"), "w", encoding="utf-8") as file:
        file.writelines(f"{piece} {i}\n" for i, piece in enumerate(vocabulary))
    with open(os.path.join(folder, kind, "config.json"), "w") as file:
        json.dump({"model_type": "nemo-conformer-tdt", "features_size": 128, "subsampling_factor": 8}, file, indent=4)
for name in ("encoder-model.onnx", "decoder_joint-model.onnx"):
    quantize_dynamic(
        os.path.join(folder, "fp32", name), os.path.join(folder, "int8", name), weight_type=QuantType.QUInt8
    )
