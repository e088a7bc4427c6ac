"""Talks to a server with ElevenLabs' own client for Python, unmodified.

    pip install elevenlabs==2.78.0
    python scripts/clients/elevenlabs-sdk.py http://127.0.0.1:8790 KEY CLIP.wav

CLIP.wav is English speech of some seconds. Prints one line for each check; exits 1 at the first failure.
"""
import io, sys

from elevenlabs import VoiceSettings
from elevenlabs.client import ElevenLabs
from elevenlabs.core.api_error import ApiError

URL, KEY, CLIP = sys.argv[1].rstrip("/"), sys.argv[2], sys.argv[3]
SENTENCE = "The birds that imitate voices learn them from anyone who speaks nearby."


def check(what: str, ok: object, shown: object = "") -> None:
    print("ok  " if ok else "FAIL", what, str(shown)[:160], flush=True)
    if not ok:
        sys.exit(1)


def refused(what: str, status: int, words: str, call) -> None:
    try:
        check(what, False, call())
    except ApiError as error:
        check(what, error.status_code == status and words in str(error.body["detail"]), error.body["detail"])


client = ElevenLabs(base_url=URL, api_key=KEY)
speak = client.text_to_speech


def speech(voice: str, **asked) -> bytes:
    return b"".join(speak.convert(voice, text=SENTENCE, **asked))


models = client.models.list()
check("models", any(model.model_id == "eleven_multilingual_v2" for model in models), [one.model_id for one in models])
voices = client.voices.get_all().voices
check("voices", voices, [voice.voice_id for voice in voices])
page = client.voices.search(page_size=2)
check("voices, a page", len(page.voices) == 2 and page.has_more, page.total_count)
check("speech as mp3", speech("nova", model_id="eleven_multilingual_v2")[:1] == b"\xff")
check("speech as opus", speech("nova", output_format="opus_48000_64")[:4] == b"OggS")
samples = speech("nova", output_format="pcm_16000", model_id="eleven_flash_v2_5")
check("speech as samples", len(samples) > 32_000, len(samples))
fast = speech("nova", output_format="pcm_16000", voice_settings=VoiceSettings(speed=1.5, stability=0.5))
check("speech, faster", len(fast) < 0.8 * len(samples), len(fast))
parts = list(speak.stream("nova", text=SENTENCE, output_format="pcm_16000"))
check("speech as it is made", len(parts) > 1 and b"".join(parts) == samples, len(parts))
timed = speak.convert_with_timestamps("nova", text=SENTENCE, output_format="pcm_16000")
check("times of characters", "".join(timed.alignment.characters) == SENTENCE,
      timed.alignment.character_start_times_seconds[-3:])
pieces = list(speak.stream_with_timestamps("nova", text=SENTENCE, output_format="pcm_16000"))
told = "".join(char for piece in pieces if piece.alignment for char in piece.alignment.characters)
check("times of characters, as they are made", told == SENTENCE and len(pieces) > 1, len(pieces))
with open(CLIP, "rb") as clip:
    heard = client.speech_to_text.convert(model_id="scribe_v1", file=clip)
check("a transcript", heard.text, heard.text)
check("its words", "".join(word.text for word in heard.words) == heard.text, heard.words[0])
with open(CLIP, "rb") as clip:
    voice_id = client.voices.ivc.create(name="Ada", files=[io.BytesIO(clip.read())], labels={"accent": "welsh"}).voice_id
check("a clone speaks", speech(voice_id)[:1] == b"\xff", voice_id)
check("a clone is renamed", client.voices.update(voice_id, name="Eve").status == "ok")
check("a clone is read", client.voices.get(voice_id).name == "Eve")
check("a clone is found", [one.voice_id for one in client.voices.search(voice_type="personal", search="Eve").voices])
check("a clone is deleted", client.voices.delete(voice_id).status == "ok")
refused("a deleted clone", 404, "voice_not_found", lambda: client.voices.get(voice_id))
check("the account", client.user.get().user_id)
check("what is left", client.user.subscription.get().character_limit > 0, client.user.subscription.get().character_limit)
refused("an unknown voice", 404, "voice_not_found", lambda: speech("nobody"))
refused("an unknown model", 404, "model_not_found", lambda: speech("nova", model_id="none"))
refused("no text", 422, "should not be empty", lambda: list(speak.convert("nova", text="")))
refused("a format for telephones", 422, "should be one of", lambda: speech("nova", output_format="ulaw_8000"))
refused("a wrong key", 401, "invalid_api_key", ElevenLabs(base_url=URL, api_key="sk-wrong").models.list)
