"""Talks to a running `myna serve --wyoming PORT` with the clients that people use, unmodified:
the `wyoming` package's own client, python-zeroconf (which Home Assistant searches with), and Home Assistant's Wyoming
integration from its wheel, with stand-ins for the base classes only.

    pip install wyoming zeroconf
    pip download --no-deps --ignore-requires-python homeassistant==2026.11.0
    python scripts/clients/home-assistant.py PORT CLIP.wav [HOMEASSISTANT.whl]

CLIP.wav is speech, 16 kHz, mono, 16 bits. Prints one line for each check; exits 1 at the first failure.
"""
import asyncio, dataclasses, enum, io, re, sys, time, types, typing, wave, zipfile
from wyoming.asr import Transcribe, Transcript
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncTcpClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.tts import (Synthesize, SynthesizeChunk, SynthesizeStart, SynthesizeStop, SynthesizeStopped,
                         SynthesizeVoice)

PORT, CLIP = int(sys.argv[1]), sys.argv[2]
WHEEL = sys.argv[3] if len(sys.argv) > 3 else None
URI = f"tcp://127.0.0.1:{PORT}"


def check(what: str, ok: object, shown: object = "") -> None:
    print("ok  " if ok else "FAIL", what, shown, flush=True)
    if not ok:
        sys.exit(1)


def clip_pcm() -> bytes:
    with wave.open(CLIP) as clip:
        assert (clip.getframerate(), clip.getnchannels(), clip.getsampwidth()) == (16000, 1, 2), "16 kHz mono 16 bit"
        return clip.readframes(clip.getnframes())


async def audio_of(client: AsyncTcpClient, last: str) -> tuple[bytes, list[str]]:
    audio, seen = b"", []
    while True:
        event = await asyncio.wait_for(client.read_event(), 120)
        assert event is not None, f"closed after {seen}"
        if not seen or seen[-1] != event.type:
            seen.append(event.type)
        if AudioChunk.is_type(event.type):
            audio += AudioChunk.from_event(event).audio
        if event.type == last or Error.is_type(event.type):
            return audio, seen


async def transcribe(client: AsyncTcpClient, pcm: bytes, has_stopped: bool = True) -> None:
    await client.write_event(Transcribe(language="en").event())
    await client.write_event(AudioStart(16000, 2, 1).event())
    for at in range(0, len(pcm), 2048):
        await client.write_event(AudioChunk(16000, 2, 1, pcm[at:at + 2048]).event())
    if has_stopped:
        await client.write_event(AudioStop().event())


async def package_client() -> Info:
    async with AsyncTcpClient("127.0.0.1", PORT) as client:
        await client.write_event(Describe().event())
        info = Info.from_event(await client.read_event())
        check("describe", len(info.tts) == 1 and len(info.asr) <= 1,
              f"{len(info.tts[0].voices)} voices, models {[m.name for a in info.asr for m in a.models]}")
        await client.write_event(Ping("hello").event())
        check("ping", Pong.from_event(await client.read_event()).text == "hello")
        voice = SynthesizeVoice(name=info.tts[0].voices[0].name)
        await client.write_event(Synthesize("Hello there. This is a test.", voice).event())
        audio, seen = await audio_of(client, "audio-stop")
        check("synthesize", len(audio) > 24000, f"{len(audio) / 48000:.2f} s {seen}")
        await client.write_event(SynthesizeStart(voice=voice).event())
        for text in ("Hello ", "there. ", "Second ", "sentence."):
            await client.write_event(SynthesizeChunk(text).event())
        await client.write_event(Synthesize("Hello there. Second sentence.", voice).event())
        await client.write_event(SynthesizeStop().event())
        audio, seen = await audio_of(client, "synthesize-stopped")
        check("streamed text", len(audio) > 24000 and seen.count("audio-start") == 1, f"{len(audio) / 48000:.2f} s")
        await client.write_event(Synthesize("x", SynthesizeVoice(name="no-such-voice")).event())
        error = Error.from_event(await client.read_event())
        check("an unknown voice is an error", error.code == "voice_not_found", error.text)
        if info.asr:
            began = time.monotonic()
            await transcribe(client, clip_pcm())
            while not Transcript.is_type((event := await client.read_event()).type):
                pass
            text = Transcript.from_event(event).text
            check("transcribe", text, f"{time.monotonic() - began:.2f} s: {text[:100]}")
    return info


async def bad_manners(info: Info) -> None:
    _, writer = await asyncio.open_connection("127.0.0.1", PORT)
    writer.write(line_of(Synthesize("A sentence that nobody will hear to its end. " * 20).event()))
    await writer.drain()
    writer.transport.abort()
    check("the network is unplugged while it speaks", True)
    if info.asr:
        client = AsyncTcpClient("127.0.0.1", PORT)
        await client.connect()
        await transcribe(client, clip_pcm(), has_stopped=False)
        client._writer.transport.abort()
        check("the network is unplugged while it listens", True)
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    writer.write(b"\x16\x03\x01 this is no event\n")
    check("rubbish closes the connection", await asyncio.wait_for(reader.read(), 10) == b"")
    reader, writer = await asyncio.open_connection("127.0.0.1", PORT)
    writer.write(line_of(Synthesize("A sentence of some length, to be read slowly. " * 60).event()))
    total, frames = 0, 0
    while b"audio-stop" not in (line := await reader.readline()):
        assert line, f"closed after {frames} frames"
        lengths = [int(n) for n in re.findall(rb'"(?:data|payload)_length": ?(\d+)', line)]
        total += sum(lengths)
        await reader.readexactly(sum(lengths))
        frames += b"audio-chunk" in line
        await asyncio.sleep(0.01)
    check("read slowly", frames > 10, f"{frames} frames, {total} bytes")
    async with AsyncTcpClient("127.0.0.1", PORT) as client:
        await client.write_event(Describe().event())
        check("it still answers", Info.is_type((await client.read_event()).type))


def line_of(event: Event) -> bytes:
    out = io.BytesIO()
    from wyoming.event import write_event
    write_event(event, out)
    return out.getvalue()


def load_home_assistant(wheel: str) -> types.ModuleType:
    """The integration's own data.py, tts.py, stt.py and error.py, with stand-ins for what they import from the hub."""
    def module(name: str, **names: object) -> types.ModuleType:
        made = types.ModuleType(name)
        made.__dict__.update(names)
        sys.modules[name] = made
        parent, _, own = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], own, made)
        return made

    if not hasattr(typing, "override"):
        typing.override = lambda function: function
    record = dataclasses.make_dataclass
    base = type("Entity", (), {"async_added_to_hass": None})
    numbers = type("Numbers", (), {name: 1 for name in ("WAV", "PCM", "BITRATE_16", "SAMPLERATE_16000",
                                                        "CHANNEL_MONO")})
    failure = type("HomeAssistantError", (Exception,), {"__init__": lambda self, *a, **k: setattr(self, "k", (a, k))})
    states = enum.Enum("SpeechResultState", {"SUCCESS": "success", "ERROR": "error"})
    platforms = enum.Enum("Platform", "STT TTS WAKE_WORD CONVERSATION ASSIST_SATELLITE")
    module("homeassistant").__path__ = []
    module("homeassistant.const", Platform=platforms)
    module("homeassistant.core", HomeAssistant=object, callback=lambda function: function)
    module("homeassistant.exceptions", HomeAssistantError=failure)
    module("homeassistant.helpers")
    module("homeassistant.helpers.entity_platform", AddConfigEntryEntitiesCallback=object)
    module("homeassistant.components").__path__ = []
    module("homeassistant.components.tts", ATTR_AUDIO_OUTPUT="audio_output", ATTR_VOICE="voice",
           TextToSpeechEntity=base, Voice=record("Voice", ["voice_id", "name"]),
           TTSAudioRequest=record("TTSAudioRequest", ["language", "options", "message_gen"]),
           TTSAudioResponse=record("TTSAudioResponse", ["extension", "data_gen"]))
    module("homeassistant.components.stt", SpeechToTextEntity=base, SpeechResultState=states,
           SpeechResult=record("SpeechResult", ["text", "result"]),
           SpeechMetadata=record("SpeechMetadata", ["language"]), SpeechAudioProcessing=lambda **k: k,
           AudioFormats=numbers, AudioCodecs=numbers, AudioBitRates=numbers, AudioSampleRates=numbers,
           AudioChannels=numbers)
    wyoming = module("homeassistant.components.wyoming")
    wyoming.__path__ = []
    module("homeassistant.components.wyoming.const", DOMAIN="wyoming", ATTR_SPEAKER="speaker", SAMPLE_RATE=16000,
           SAMPLE_WIDTH=2, SAMPLE_CHANNELS=1)
    module("homeassistant.components.wyoming.coordinator", WyomingInfoCoordinator=object)
    module("homeassistant.components.wyoming.models", WyomingConfigEntry=object)
    with zipfile.ZipFile(wheel) as files:
        for name in ("error", "data", "tts", "stt"):
            source = files.read(f"homeassistant/components/wyoming/{name}.py").decode()
            # Written for Python 3.14, where several exceptions need no brackets.
            source = re.sub(r"except ((?:\w+, )+\w+):", r"except (\1):", source)
            made = module(f"homeassistant.components.wyoming.{name}")
            made.__package__ = "homeassistant.components.wyoming"
            exec(compile("from __future__ import annotations\n" + source, f"{name}.py", "exec"), made.__dict__)
    return wyoming


async def home_assistant(wheel: str) -> None:
    wyoming = load_home_assistant(wheel)

    class Entry:
        entry_id = "entry"

        def async_create_background_task(self, hass, work, name):
            return asyncio.create_task(work)

    class Coordinator:
        data = None

    service = await wyoming.data.WyomingService.create("127.0.0.1", PORT)
    check("Home Assistant: service", service.get_name() == "myna", [p.name for p in service.platforms])
    speech = wyoming.tts.WyomingTtsProvider(Entry(), Coordinator(), service)
    speech.hass = None
    language = speech._attr_supported_languages[0]
    voices = speech.async_get_supported_voices(language)
    check("Home Assistant: voices", voices, f"{len(voices)} of {language}")
    options = {"voice": voices[0].voice_id}
    kind, data = await speech.async_get_tts_audio("Hello there. Second.", language, options)
    with wave.open(io.BytesIO(data)) as whole:
        check("Home Assistant: speech", kind == "wav" and whole.getnframes() > 12000, whole.getparams())
    request = sys.modules["homeassistant.components.tts"].TTSAudioRequest

    async def words():
        for word in ("Hello ", "there. ", "Second ", "sentence."):
            yield word
            await asyncio.sleep(0.02)
    answer = await speech.async_stream_tts_audio(request(language, options, words()))
    audio = b"".join([chunk async for chunk in answer.data_gen])
    check("Home Assistant: streamed speech", audio[:4] == b"RIFF" and len(audio) > 24000, f"{len(audio)} bytes")
    try:
        await speech.async_get_tts_audio("x", language, {"voice": "no-such-voice"})
        check("Home Assistant: error", False)
    except Exception as error:
        check("Home Assistant: error", "voice_not_found" in str(getattr(error, "k", error)))
    if not service.info.asr:
        return
    listener = wyoming.stt.WyomingSttProvider(Entry(), service)

    async def sound():
        pcm = clip_pcm()
        for at in range(0, len(pcm), 3200):
            yield pcm[at:at + 3200]
    metadata = sys.modules["homeassistant.components.stt"].SpeechMetadata("en")
    result = await listener.async_process_audio_stream(metadata, sound())
    check("Home Assistant: transcription", result.text, result.text[:100])


def discovery() -> None:
    """Only if the port is open to the network, because a loopback address is not announced."""
    from zeroconf import ServiceBrowser, Zeroconf
    found: list[tuple[str, int, list[str]]] = []

    class Listener:
        def add_service(self, zc, kind, name):
            info = zc.get_service_info(kind, name)
            found.append((name, info.port, info.parsed_addresses()))

        update_service = remove_service = lambda self, *a: None
    zc = Zeroconf()
    ServiceBrowser(zc, "_wyoming._tcp.local.", Listener())
    for _ in range(50):
        if found:
            break
        time.sleep(0.1)
    zc.close()
    print("info", "python-zeroconf found", found)


async def main() -> None:
    info = await package_client()
    await bad_manners(info)
    if WHEEL:
        await home_assistant(WHEEL)


asyncio.run(main())
discovery()
