"""How well the times of heard words fit the speech: those of /v1/audio/transcriptions, as medians and percentiles.

    pip install pocketsphinx numpy soundfile faster-whisper
    python scripts/clients/heard-word-times.py URL KEY MODEL SHARED [--ct2 FOLDER [--kokoro MODEL]]

Real readers are compared with the forced alignment of PocketSphinx (CMU, frames of 10 ms): each clip alone, and all of
them end to end, so that windows end within speech. SHARED is the folder with data/clips and
prototypes/embedded/librispeech-references.py. With `--ct2`, faster-whisper hears the same with the weights in FOLDER.
`--kokoro` adds other languages, which this model of the server speaks: faster-whisper's times are the reference there.
"""
import argparse, difflib, io, json, pathlib, re, urllib.request, uuid

import numpy as np
import soundfile
from pocketsphinx import Decoder

RATE = 16000
FRAME = 100
Word = tuple[str, float, float]

SPOKEN = {
    "es": ("ef_dora", [
        "Hace mucho tiempo vivía en un pueblo pequeño una mujer que conocía todas las estrellas.",
        "El tren para Madrid sale mañana a las siete, y nadie sabe quién tiene los billetes.",
        "Cuando dejó de llover, los niños corrieron hasta el río para ver el agua.",
    ]),
    "fr": ("ff_siwis", [
        "Il y a longtemps vivait dans un petit village une femme qui connaissait les étoiles.",
        "Le train pour Paris part demain matin, et personne ne sait qui garde les billets.",
        "Quand la pluie cessa, les enfants coururent vers la rivière pour regarder passer les bateaux.",
    ]),
    "it": ("if_sara", [
        "Molto tempo fa viveva in un piccolo paese una donna che conosceva tutte le stelle.",
        "Il treno per Roma parte domani mattina, e nessuno sa chi abbia preso i biglietti.",
        "Quando smise di piovere, i bambini corsero verso il fiume per guardare le barche.",
    ]),
    "pt": ("pf_dora", [
        "Há muito tempo vivia numa aldeia pequena uma mulher que conhecia todas as estrelas.",
        "O trem para Lisboa parte amanhã de manhã, e ninguém sabe quem guardou os bilhetes.",
        "Quando a chuva parou, as crianças correram até o rio para olhar os barcos.",
    ]),
}


def words_of(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+(?:'[^\W\d_]+)*", text.lower().replace("’", "'"))


def aligned(pcm: np.ndarray, text: str) -> list[Word] | None:
    """None: it could not be aligned, for instance because a word is not in the dictionary."""
    words = words_of(text)
    quiet = (np.random.default_rng(0).standard_normal(RATE // 2) * 3).astype("<i2")
    sound = np.concatenate([quiet, pcm, quiet]).tobytes()
    decoder = Decoder(samprate=RATE, loglevel="FATAL", lm=None, bestpath=False)
    try:
        decoder.set_align_text(" ".join(words))
        for _ in range(2):
            decoder.start_utt()
            decoder.process_raw(sound, full_utt=True)
            decoder.end_utt()
            decoder.set_alignment()
    except RuntimeError:
        return None
    found = []
    for word in decoder.get_alignment():
        if not word.name.startswith("<"):
            begin, end = word.start / FRAME, (word.start + word.duration) / FRAME
            found.append((word.name.split("(")[0], begin - 0.5, end - 0.5))
    return found if [name for name, _, _ in found] == words else None


def send(url: str, key: str, body: bytes, kind: str) -> bytes:
    request = urllib.request.Request(url, body, {"Authorization": f"Bearer {key}", "Content-Type": kind})
    with urllib.request.urlopen(request) as answer:
        return answer.read()


class Myna:
    def __init__(self, url: str, key: str, model: str):
        self.url, self.key, self.model, self.name = url, key, model, f"Myna, {model}"

    def heard(self, pcm: np.ndarray, language: str) -> list[Word]:
        wav = io.BytesIO()
        soundfile.write(wav, pcm, RATE, format="WAV", subtype="PCM_16")
        fields = {"model": self.model, "language": language, "response_format": "verbose_json",
                  "timestamp_granularities[]": "word"}
        mark = uuid.uuid4().hex
        parts = [f'--{mark}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
                 for name, value in fields.items()]
        parts.append(f'--{mark}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'.encode())
        body = b"".join([*parts, wav.getvalue(), f"\r\n--{mark}--\r\n".encode()])
        answer = send(f"{self.url}/v1/audio/transcriptions", self.key, body, f"multipart/form-data; boundary={mark}")
        found = json.loads(answer)
        return [(word["word"], word["start"], word["end"]) for word in found["words"]]

    def spoken(self, text: str, model: str, voice: str) -> np.ndarray:
        body = {"input": text, "model": model, "voice": voice, "response_format": "pcm", "sample_rate": RATE}
        sound = send(f"{self.url}/v1/audio/speech", self.key, json.dumps(body).encode(), "application/json")
        return np.frombuffer(sound, "<i2")


class FasterWhisper:
    def __init__(self, folder: str):
        from faster_whisper import WhisperModel
        self.model, self.name = WhisperModel(folder, device="cpu", compute_type="int8", cpu_threads=2), "faster-whisper"

    def heard(self, pcm: np.ndarray, language: str) -> list[Word]:
        segments, _ = self.model.transcribe(pcm.astype(np.float32) / 32768, language=language, word_timestamps=True)
        return [(word.word, word.start, word.end) for segment in segments for word in segment.words]


def report(name: str, subject: str, pairs: list[tuple[list[Word], list[Word]]]) -> None:
    """The words that were heard as they were said; the others have no time to compare."""
    begins, ends, words = [], [], 0
    for said, heard in pairs:
        said = [(part, begin, end) for word, begin, end in said for part in words_of(word)[:1]]
        heard = [(part, begin, end) for word, begin, end in heard for part in words_of(word)[:1]]
        words += len(said)
        match = difflib.SequenceMatcher(None, [word for word, _, _ in said], [word for word, _, _ in heard], False)
        for at, other, size in match.get_matching_blocks():
            for i in range(size):
                begins.append(1000 * (heard[other + i][1] - said[at + i][1]))
                ends.append(1000 * (heard[other + i][2] - said[at + i][2]))
    columns = []
    for off in (np.array(begins), np.array(ends)):
        size = np.abs(off)
        columns.append(f"{np.median(size):.0f} (bias {np.median(off):+.0f}), 90 % {np.percentile(size, 90):.0f}, "
                       f"worst {size.max():.0f}, {100 * np.mean(size > 300):.1f} % above 300")
    print(f"{subject:<22} {name:<26} {len(begins)} of {words} words | begin {columns[0]} | end {columns[1]}", flush=True)


def shifted(words: list[Word], seconds: float) -> list[Word]:
    return [(word, begin + seconds, end + seconds) for word, begin, end in words]


def joined(clips: list[tuple[np.ndarray, list[Word]]], gap: float) -> tuple[np.ndarray, list[Word]]:
    sound, words, length = [], [], 0
    for pcm, said in clips:
        words += shifted(said, length / RATE)
        sound += [pcm, np.zeros(int(gap * RATE), "<i2")]
        length += len(pcm) + len(sound[-1])
    return np.concatenate(sound), words


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("url", "key", "model", "shared"):
        parser.add_argument(name)
    parser.add_argument("--ct2")
    parser.add_argument("--kokoro")
    args = parser.parse_args()
    if args.kokoro and not args.ct2:
        parser.error("--kokoro needs --ct2")
    myna = Myna(args.url.rstrip("/"), args.key, args.model)
    listeners = [myna, *([FasterWhisper(args.ct2)] if args.ct2 else [])]

    shared = pathlib.Path(args.shared)
    names: dict = {}
    exec((shared / "prototypes/embedded/librispeech-references.py").read_text(), names)
    clips = []
    for name, text in sorted(names["REFS"].items()):
        pcm, rate = soundfile.read(shared / "data/clips" / f"{name}.flac", dtype="int16")
        assert rate == RATE
        said = aligned(pcm, text.replace("Mr.", "mister"))
        if said is not None:
            clips.append((pcm, [("mr" if word == "mister" else word, *times) for word, *times in said]))
    print(f"{len(clips)} of {len(names['REFS'])} clips were aligned")
    subjects = {"clips": clips, **{f"end to end, {gap} s apart": [joined(clips, gap)] for gap in (0, 0.4)}}
    for subject, recordings in subjects.items():
        for listener in listeners:
            report(listener.name, subject, [(said, listener.heard(pcm, "en")) for pcm, said in recordings])
    for language, (voice, texts) in SPOKEN.items() if args.kokoro else ():
        sounds = [myna.spoken(text, args.kokoro, voice) for text in texts]
        pairs = [(listeners[1].heard(pcm, language), myna.heard(pcm, language)) for pcm in sounds]
        report(f"{myna.name}, by faster-whisper", f"spoken, {language}", pairs)


main()
