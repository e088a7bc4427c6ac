"""Talks to a server over REST with the clients that Python programs use, unmodified: openai-python, LiteLLM's SDK, the
voice models of OpenAI's Agents SDK, and Prometheus' parser.

    pip install openai==3.57.0 litellm==1.108.7 'openai-agents[voice]==0.24.0' loguru prometheus-client==0.26.0
    python scripts/clients/rest.py http://127.0.0.1:8790 KEY CLIP.wav [METRICS_TOKEN]

CLIP.wav is English speech of some seconds, 24 kHz, mono, 16 bits. Prints one line for each check; exits 1 at the first
failure. LiteLLM and the Agents SDK may want another version of openai: put each into an environment of its own and
name what to run as the last arguments, openai, litellm, agents or prometheus.
"""
import asyncio, io, os, pathlib, sys, urllib.request, uuid, warnings, wave

warnings.simplefilter("ignore")
KINDS = ("openai", "litellm", "agents", "prometheus")
URL, KEY, CLIP = sys.argv[1].rstrip("/"), sys.argv[2], sys.argv[3]
TOKEN = next((given for given in sys.argv[4:] if given not in KINDS), None)
WANTED = [given for given in sys.argv[4:] if given in KINDS] or KINDS
BASE = f"{URL}/v1"
SENTENCE = "The birds that imitate voices learn them from anyone who speaks nearby."
FORMATS = {"mp3": "audio/mpeg", "opus": "audio/ogg", "aac": "audio/aac", "flac": "audio/flac", "wav": "audio/wav",
           "pcm": "audio/pcm"}


def check(what: str, ok: object, shown: object = "") -> None:
    print("ok  " if ok else "FAIL", what, str(shown)[:160], flush=True)
    if not ok:
        sys.exit(1)


def refused(what: str, status: int, words: str, call) -> None:
    try:
        check(what, False, call())
    except Exception as error:
        check(what, getattr(error, "status_code", None) == status and words in str(error), error)


def openai_python() -> None:
    import openai

    client = openai.OpenAI(base_url=BASE, api_key=KEY)
    speech, hear = client.audio.speech.create, client.audio.transcriptions.create
    say = {"model": "tts-1", "voice": "nova", "input": SENTENCE}
    check("openai: models", [model.id for model in client.models.list()])
    spoken = {}
    for form, kind in FORMATS.items():
        answer = speech(**say, response_format=form)
        spoken[form] = answer.content
        check(f"openai: speech as {form}", answer.response.headers["content-type"] == kind, len(answer.content))
        if form != "pcm":
            check(f"openai: {form} is heard again", "imitate" in hear(model="whisper-1", file=(form, answer.content)).text)
    with client.audio.speech.with_streaming_response.create(**say, response_format="pcm") as answer:
        streamed = b"".join(answer.iter_bytes(1000))
        check("openai: speech as it is made", streamed == spoken["pcm"], answer.headers["x-request-id"])
    for form in ("json", "text", "srt", "vtt", "verbose_json"):
        answer = hear(model="whisper-1", file=pathlib.Path(CLIP), response_format=form)
        check(f"openai: transcript as {form}", answer if isinstance(answer, str) else answer.text)
    data = pathlib.Path(CLIP).read_bytes()
    for name, file in {"a file": open(CLIP, "rb"), "bytes": data, "a stream": io.BytesIO(data)}.items():
        check(f"openai: upload of {name}", hear(model="gpt-4o-transcribe", file=file).text)
    events = [event.type for event in hear(model="gpt-4o-transcribe", file=data, stream=True)]
    check("openai: transcript as events", events[-1] == "transcript.text.done", events)
    timed = hear(model="whisper-1", file=data, response_format="verbose_json", timestamp_granularities=["word"])
    check("openai: times of words", timed.words, timed.words[0])
    once = {"Idempotency-Key": str(uuid.uuid4())}
    speech(**say, extra_headers=once)
    refused("openai: the same key again", 409, "audio is not replayed", lambda: speech(**say, extra_headers=once))
    stranger = openai.OpenAI(base_url=BASE, api_key="sk-wrong", max_retries=0)
    refused("openai: a wrong key", 401, "Incorrect API key", stranger.models.list)
    lost = openai.OpenAI(base_url=URL, api_key=KEY)
    refused("openai: a base URL without /v1", 404, "must end with /v1", lost.models.list)
    refused("openai: an unknown voice", 404, "voice 'nobody'", lambda: speech(**{**say, "voice": "nobody"}))
    refused("openai: an unknown model", 404, "model 'none'", lambda: speech(**{**say, "model": "none"}))
    refused("openai: no text", 400, "empty string", lambda: speech(**{**say, "input": ""}))
    refused("openai: too much text", 400, "maximum length", lambda: speech(**{**say, "input": "a " * 4000}))
    refused("openai: no audio", 400, "text, not audio", lambda: hear(model="whisper-1", file=("a.mp3", b"text " * 99)))
    voices, consents = client.audio.voices, client.audio.voice_consents
    consent = consents.create(name="Ada", language="en-US", recording=open(CLIP, "rb"))
    voice = voices.create(name="Ada", audio_sample=open(CLIP, "rb"), consent=consent.id)
    check("openai: a voice with a consent speaks", len(speech(**{**say, "voice": {"id": voice.id}}).content))
    refused("openai: a voice by description", 400, "'audio_sample'",
            lambda: voices.create(type="prompt", name="Ada", prompt="deep"))
    check("openai: both are deleted", voices.delete(voice.id).deleted and consents.delete(consent.id).deleted)
    asyncio.run(cancelled())


async def cancelled() -> None:
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=BASE, api_key=KEY) as client:
        create = client.audio.speech.with_streaming_response.create
        async with create(model="tts-1", voice="nova", input=SENTENCE * 50, response_format="pcm") as answer:
            operation = answer.headers["x-request-id"]
            async for _ in answer.iter_bytes(1000):
                break
        for _ in range(100):
            record = await client.get(f"/operations/{operation}", cast_to=object)
            if record["state"] == "terminal":
                break
            await asyncio.sleep(0.1)
        check("openai: a stream that is left ends", record["outcome"] == "stream_failed", record["charged_micros"])


def litellm_sdk() -> None:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    litellm.suppress_debug_info = True
    to = {"api_base": BASE, "api_key": KEY}
    say = {"model": "openai/tts-1", "voice": "nova", "input": SENTENCE, **to}
    check("LiteLLM: speech", len(litellm.speech(**say).content))
    for form in ("json", "srt", "verbose_json"):
        with open(CLIP, "rb") as file:
            answer = litellm.transcription(model="openai/whisper-1", file=file, response_format=form, **to)
        check(f"LiteLLM: transcript as {form}", answer.text, answer.text)
    refused("LiteLLM: an unknown voice", 404, "voice 'nobody'", lambda: litellm.speech(**{**say, "voice": "nobody"}))


async def agents_sdk() -> None:
    import numpy
    from agents.voice import (AudioInput, OpenAIVoiceModelProvider, StreamedAudioInput, STTModelSettings,
                              TTSModelSettings)

    provider = OpenAIVoiceModelProvider(api_key=KEY, base_url=BASE)
    speaker, listener = provider.get_tts_model("gpt-4o-mini-tts"), provider.get_stt_model("gpt-4o-transcribe")
    size = sum([len(block) async for block in speaker.run(SENTENCE, TTSModelSettings(voice="nova"))])
    check("Agents SDK: speech", size > 48_000, size)
    with wave.open(CLIP) as clip:
        samples = numpy.frombuffer(clip.readframes(clip.getnframes()), dtype=numpy.int16)
    check("Agents SDK: transcript",
          await listener.transcribe(AudioInput(buffer=samples), STTModelSettings(), False, False))
    microphone = StreamedAudioInput()
    session = await listener.create_session(microphone, STTModelSettings(), False, False)
    for at in range(0, len(samples), 2400):
        await microphone.add_audio(samples[at:at + 2400])
    await microphone.add_audio(numpy.zeros(48_000, dtype=numpy.int16))

    async def first() -> str:
        async for turn in session.transcribe_turns():
            return turn
        return ""
    check("Agents SDK: a turn of a stream", await asyncio.wait_for(first(), 30))
    await session.close()


def prometheus() -> None:
    from prometheus_client.parser import text_string_to_metric_families as families

    if TOKEN is None:
        return print("skip Prometheus: give the server MYNA_METRICS_TOKEN and name it here")
    request = urllib.request.Request(f"{URL}/metrics", headers={
        "Authorization": f"Bearer {TOKEN}", "Accept": "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"})
    names = [family.name for family in families(urllib.request.urlopen(request).read().decode())]
    check("Prometheus: metrics", "voice_http_requests" in names and len(set(names)) == len(names), len(names))


if "openai" in WANTED:
    openai_python()
if "litellm" in WANTED:
    litellm_sdk()
if "agents" in WANTED:
    asyncio.run(agents_sdk())
if "prometheus" in WANTED:
    prometheus()
