"""The results of other programs with the same weights. One request a line on stdin, one answer a line on stdout, as JSON.

peers.py listen CT2 TYPE      faster-whisper, int8 or float32, greedy, 2 threads: {"path"} -> {"text", "cpu"}
peers.py onnx-asr FOLDER      the same with Whisper's ONNX files, at most 30 s: {"pcm"} -> {"text", "cpu"}
peers.py sherpa-onnx E D T    the same with Moonshine's encoder and decoder (.ort) and its tokens.txt
peers.py speak GRAPH VOICES   kokoro-onnx; VOICES is a folder of *.bin: {"text", "voice", "path"} -> {"seconds", "cpu"}
peers.py judge GRAPH          DNSMOS P.835 of a WAV file: {"path"} -> {"sig", "bak", "ovr"}
needs: numpy soundfile soxr and, by verb, faster-whisper, onnx-asr, sherpa-onnx, kokoro-onnx, onnxruntime
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
THREADS = 2
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


def onnx_asr_listener(folder):
    import onnx_asr
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    # As in Myna: waiting threads would take most of the time on a busy machine.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    model = onnx_asr.load_model("whisper", folder, sess_options=options, providers=["CPUExecutionProvider"])

    def answer(request):
        return {"text": model.recognize(np.fromfile(request["pcm"], np.float32), sample_rate=RATE, language="en")}
    return answer


def sherpa_listener(encoder, decoder, tokens):
    import sherpa_onnx
    model = sherpa_onnx.OfflineRecognizer.from_moonshine_v2(
        encoder=encoder, decoder=decoder, tokens=tokens, num_threads=THREADS)

    def answer(request):
        stream = model.create_stream()
        stream.accept_waveform(RATE, np.fromfile(request["pcm"], np.float32))
        model.decode_stream(stream)
        return {"text": stream.result.text.strip()}
    return answer


def speaker(graph, folder):
    from kokoro_onnx import Kokoro
    voices = {os.path.basename(path)[:-4]: np.fromfile(path, np.float32).reshape(-1, 1, 256)
              for path in glob.glob(f"{folder}/*.bin")}
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file, **voices)
        file.flush()
        model = Kokoro(graph, file.name)

    def answer(request):
        pcm, rate = model.create(request["text"], voice=request["voice"], speed=1.0, lang="en-us")
        soundfile.write(request["path"], pcm, rate)
        return {"seconds": len(pcm) / rate}
    return answer


def judge(graph):
    import onnxruntime
    session = onnxruntime.InferenceSession(graph)

    def answer(request):
        pcm = at_rate(request["path"])
        whole = np.tile(pcm, JUDGED_SAMPLES // len(pcm) + 1)[:JUDGED_SAMPLES][None].astype(np.float32)
        sig, bak, ovr = (float(value) for value in session.run(None, {"input_1": whole})[0][0])
        return {"sig": sig, "bak": bak, "ovr": ovr}
    return answer


if __name__ == "__main__":
    verbs = {"listen": listener, "onnx-asr": onnx_asr_listener, "sherpa-onnx": sherpa_listener, "speak": speaker,
             "judge": judge}
    answer = verbs[sys.argv[1]](*sys.argv[2:])
    for line in sys.stdin:
        before = time.process_time()
        found = answer(json.loads(line))
        print(json.dumps({**found, "cpu": time.process_time() - before}), flush=True)
