"""The results of other programs with the same weights. One request a line on stdin, one answer a line on stdout, as JSON.

peers.py listen CT2 TYPE      faster-whisper, int8 or float32, greedy: {"path"} -> {"text", "cpu"}
peers.py onnx-asr FOLDER      the same with Whisper's ONNX files, at most 30 s: {"pcm"} -> {"text", "cpu"}
peers.py sherpa-moonshine E D T    the same with sherpa-onnx, Moonshine's encoder and decoder (.ort) and tokens
peers.py sherpa-whisper E D T      the same with the graphs of sherpa-whisper.py, at most 30 s
peers.py speak GRAPH VOICES   kokoro-onnx; VOICES is a folder of *.bin: {"text", "voice", "path"} -> {"seconds", "cpu"}
peers.py sherpa-speak GRAPH VOICES TOKENS SPEAKER    the same with sherpa-onnx, and the phonemes of kokoro-onnx
peers.py pack VOICES FILE     no requests: the voices become FILE (.npz), as the other programs read them
peers.py judge GRAPH          DNSMOS P.835 of a WAV file: {"path"} -> {"sig", "bak", "ovr"}
peers.py pesq                 PESQ, wideband, of a copy beside its original: {"path", "original"} -> {"pesq"}

All compute with as many threads as OMP_NUM_THREADS says. Those of ONNX Runtime sleep when they wait, as in Myna, except
in sherpa-onnx, which has no setting for it.
needs: numpy soundfile soxr and, by verb, faster-whisper, onnx-asr, sherpa-onnx, kokoro-onnx, onnxruntime, pesq
"""
import glob
import json
import os
import sys
import tempfile
import time

import numpy as np
import soundfile

RATE = 16000
THREADS = int(os.environ.get("OMP_NUM_THREADS", "2"))
# DNSMOS rates nine seconds.
JUDGED_SAMPLES = 144160


def at_rate(path):
    import soxr
    pcm, rate = soundfile.read(path, dtype="float32", always_2d=True)
    return soxr.resample(pcm.mean(axis=1), rate, RATE)


def listener(folder, compute_type):
    from faster_whisper import WhisperModel
    model = WhisperModel(folder, device="cpu", compute_type=compute_type, cpu_threads=THREADS)

    def answer(request):
        segments, _ = model.transcribe(request["path"], language="en", beam_size=1)
        return {"text": "".join(segment.text for segment in segments).strip()}
    return answer


def session_options():
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    # Waiting threads would take most of the time on a busy machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def session_of(graph):
    import onnxruntime
    return onnxruntime.InferenceSession(graph, session_options(), providers=["CPUExecutionProvider"])


def onnx_asr_listener(folder):
    import onnx_asr
    model = onnx_asr.load_model("whisper", folder, sess_options=session_options(), providers=["CPUExecutionProvider"])

    def answer(request):
        return {"text": model.recognize(np.fromfile(request["pcm"], np.float32), sample_rate=RATE, language="en")}
    return answer


def sherpa_moonshine(encoder, decoder, tokens):
    from sherpa_onnx import OfflineRecognizer
    return sherpa_listener(OfflineRecognizer.from_moonshine_v2(
        encoder=encoder, decoder=decoder, tokens=tokens, num_threads=THREADS))


def sherpa_whisper(encoder, decoder, tokens):
    from sherpa_onnx import OfflineRecognizer
    return sherpa_listener(OfflineRecognizer.from_whisper(
        encoder=encoder, decoder=decoder, tokens=tokens, language="en", num_threads=THREADS))


def sherpa_listener(model):
    def answer(request):
        stream = model.create_stream()
        stream.accept_waveform(RATE, np.fromfile(request["pcm"], np.float32))
        model.decode_stream(stream)
        return {"text": stream.result.text.strip()}
    return answer


def pack(folder, file):
    np.savez(file, **{os.path.basename(path)[:-4]: np.fromfile(path, np.float32).reshape(-1, 1, 256)
                      for path in glob.glob(f"{folder}/*.bin")})


def speaker(graph, folder):
    from kokoro_onnx import Kokoro
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        pack(folder, file.name)
        model = Kokoro.from_session(session_of(graph), file.name)

    def answer(request):
        pcm, rate = model.create(request["text"], voice=request["voice"], speed=1.0, lang="en-us")
        soundfile.write(request["path"], pcm, rate)
        return {"seconds": len(pcm) / rate}
    return answer


def sherpa_speaker(graph, voices, tokens, speaker):
    import sherpa_onnx
    from kokoro_onnx.tokenizer import Tokenizer
    tokenizer = Tokenizer()
    files = sherpa_onnx.OfflineTtsKokoroModelConfig(model=graph, voices=voices, tokens=tokens)
    config = sherpa_onnx.OfflineTtsModelConfig(kokoro=files, num_threads=THREADS)
    model = sherpa_onnx.OfflineTts(sherpa_onnx.OfflineTtsConfig(model=config))

    def answer(request):
        order = sherpa_onnx.GenerationConfig()
        order.sid, order.speed = int(speaker), 1.0
        # It has no phonemizer of its own since 2.0.
        order.phoneme_codepoints = [[ord(sign) for sign in tokenizer.phonemize(request["text"], "en-us")]]
        spoken = model.generate(request["text"], order)
        soundfile.write(request["path"], np.array(spoken.samples, np.float32), spoken.sample_rate)
        return {"seconds": len(spoken.samples) / spoken.sample_rate}
    return answer


def judge(graph):
    session = session_of(graph)

    def answer(request):
        pcm = at_rate(request["path"])
        whole = np.tile(pcm, JUDGED_SAMPLES // len(pcm) + 1)[:JUDGED_SAMPLES][None].astype(np.float32)
        sig, bak, ovr = (float(value) for value in session.run(None, {"input_1": whole})[0][0])
        return {"sig": sig, "bak": bak, "ovr": ovr}
    return answer


def likeness():
    from pesq import pesq

    def answer(request):
        original, copy = at_rate(request["original"]), at_rate(request["path"])
        length = min(len(original), len(copy))
        return {"pesq": float(pesq(RATE, original[:length], copy[:length], "wb"))}
    return answer


if __name__ == "__main__":
    if sys.argv[1] == "pack":
        sys.exit(pack(*sys.argv[2:]))
    verbs = {"listen": listener, "onnx-asr": onnx_asr_listener, "sherpa-moonshine": sherpa_moonshine,
             "sherpa-whisper": sherpa_whisper, "speak": speaker, "sherpa-speak": sherpa_speaker, "judge": judge,
             "pesq": likeness}
    answer = verbs[sys.argv[1]](*sys.argv[2:])
    for line in sys.stdin:
        before = time.process_time()
        found = answer(json.loads(line))
        print(json.dumps({**found, "cpu": time.process_time() - before}), flush=True)
