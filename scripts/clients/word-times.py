"""How well the times of words fit the speech: those of /dev/captioned_speech against the forced alignment of
PocketSphinx (CMU), over fifty sentences. Prints medians and percentiles for each voice that is named.

    pip install pocketsphinx numpy
    python scripts/clients/word-times.py http://127.0.0.1:8790 KEY [VOICE ...]
"""
import base64, json, sys, urllib.request

import numpy as np
from pocketsphinx import Decoder

URL, KEY, VOICES = sys.argv[1].rstrip("/"), sys.argv[2], sys.argv[3:] or [None]
RATE = 16000
SENTENCES = """
The kettle has boiled and the tea is ready.
Turn left after the bridge and follow the river.
It rained all morning in the little village.
Nobody could say when the clock had stopped.
The old teacher died in the summer of that year.
Three things are needed for good bread.
Please have your customer number at hand.
The storm has cut the power in several parts of the town.
Most houses will have light again before the evening.
She opened the window and looked at the garden.
The children were playing behind the house.
He put the letter back into the drawer.
We walked along the beach until it was dark.
The train leaves at seven in the morning.
My brother works for a small company in London.
There is a strange noise in the kitchen.
The doctor told him to stay in bed.
Can you help me carry this table?
I have never seen such a beautiful sunset.
The museum is closed on Monday.
They bought a red car and a blue bicycle.
A brown river carried branches past the door.
The cat was sleeping on the warm stones.
Their plan failed because nobody trusted the captain.
You should drink more water when it is hot.
The first snow fell on the mountains last night.
Her voice was calm but her hands were shaking.
Every student received a book and a pencil.
The bakery on the corner sells excellent cake.
He forgot his umbrella on the bus again.
The meeting was moved to the next week.
Two men were waiting in front of the hotel.
The music stopped and everybody was silent.
I would like to order a cup of coffee.
The ship sailed slowly into the harbour.
Our neighbours are planting apple trees.
The answer is simple, but nobody likes it.
When the sun rises, the birds begin to sing.
Keep the receipt, because you may need it later.
The road was long, and the night was cold.
She speaks four languages and plays the violin.
The judge listened to both sides of the story.
Fresh paint was drying on the wooden fence.
The engine made a sound like thunder.
Tomorrow we will visit my grandmother.
The farmer counted his sheep twice.
Without a map they soon lost their way.
This machine turns old paper into boxes.
The last chapter surprised all the readers.
Good morning, and welcome to the show.
""".strip().splitlines()


def spoken(text: str, voice: str | None) -> tuple[np.ndarray, list[dict], bool]:
    body = {"input": text, "stream": False, "response_format": "pcm", "sample_rate": RATE,
            **({"voice": voice} if voice else {})}
    request = urllib.request.Request(f"{URL}/dev/captioned_speech", json.dumps(body).encode(),
                                     {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"})
    with urllib.request.urlopen(request) as answer:
        said = json.load(answer)
    return np.frombuffer(base64.b64decode(said["audio"]), "<i2"), said["timestamps"], said["timestamps_estimated"]


def aligned(decoder: Decoder, pcm: np.ndarray, words: list[str]) -> list[tuple[str, float, float]]:
    # Half a second of silence at both ends, which the aligner expects.
    quiet = (np.random.default_rng(0).standard_normal(RATE // 2) * 3).astype("<i2")
    sound = np.concatenate([quiet, pcm, quiet]).tobytes()
    decoder.set_align_text(" ".join(words))
    for _ in range(2):
        decoder.start_utt()
        decoder.process_raw(sound, full_utt=True)
        decoder.end_utt()
        decoder.set_alignment()
    found = []
    for word in decoder.get_alignment():
        name = word.name.split("(")[0]
        if not name.startswith("<"):
            found.append((name, word.start / 100 - 0.5, (word.start + word.duration) / 100 - 0.5))
    return found


def main() -> None:
    for voice in VOICES:
        starts, ends, skipped, estimated = [], [], 0, None
        for text in SENTENCES:
            pcm, times, estimated = spoken(text, voice)
            words = [time["word"].lower() for time in times]
            decoder = Decoder(samprate=RATE, loglevel="FATAL", lm=None, bestpath=False)
            try:
                found = aligned(decoder, pcm, words)
            except RuntimeError:
                skipped += 1
                continue
            if [name for name, _, _ in found] != words:
                skipped += 1
                continue
            for time, (_, start, end) in zip(times, found):
                starts.append(abs(time["start_time"] - start))
                ends.append(abs(time["end_time"] - end))
        kind = "estimated" if estimated else "of the model"
        figures = [f"{1000 * np.percentile(errors, share):.0f}" for errors in (starts, ends) for share in (50, 90)]
        print(f"{voice or 'default voice'} ({kind}): {len(starts)} words of {len(SENTENCES) - skipped} sentences; "
              f"ms off, start: median {figures[0]}, 90 % {figures[1]}; end: median {figures[2]}, 90 % {figures[3]}")


main()
