"""Talks to a realtime server with the clients that voice agents use, unmodified: openai-python, Pipecat's realtime
speech-to-text service in both of its ways of turn taking, and LiveKit's.

    pip install openai==3.57.0 'pipecat-ai[openai]==1.14.0' livekit-agents==1.8.9 livekit-plugins-openai==1.8.9
    python scripts/clients/realtime.py http://127.0.0.1:8790 KEY CLIP.wav

CLIP.wav is speech of some seconds, 24 kHz, mono, 16 bits. Prints one line for each check; exits 1 at the first failure.
"""
import asyncio, base64, json, sys, time, warnings, wave

import aiohttp
from openai import AsyncOpenAI

warnings.simplefilter("ignore")
URL, KEY, CLIP = sys.argv[1].rstrip("/"), sys.argv[2], sys.argv[3]
RATE = 24000
BLOCK = RATE // 20 * 2


def check(what: str, ok: object, shown: object = "") -> None:
    print("ok  " if ok else "FAIL", what, shown, flush=True)
    if not ok:
        sys.exit(1)


with wave.open(CLIP) as clip:
    assert (clip.getframerate(), clip.getnchannels(), clip.getsampwidth()) == (RATE, 1, 2), "24 kHz mono 16 bit"
    PCM = clip.readframes(clip.getnframes())
SILENCE = bytes(RATE * 2)
DONE = "conversation.item.input_audio_transcription.completed"


def blocks(pcm: bytes):
    return (pcm[at:at + BLOCK] for at in range(0, len(pcm), BLOCK))


async def openai_python() -> None:
    client = AsyncOpenAI(api_key=KEY, base_url=f"{URL}/v1")
    for name, turns in (("turns by the server", {"type": "server_vad", "silence_duration_ms": 500}),
                        ("turns by commits", None)):
        async with client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
            await connection.session.update(session={"type": "transcription", "audio": {"input": {
                "format": {"type": "audio/pcm", "rate": RATE},
                "transcription": {"model": "gpt-4o-transcribe", "language": "en"}, "turn_detection": turns}}})
            for block in blocks(PCM + SILENCE):
                await connection.input_audio_buffer.append(audio=base64.b64encode(block).decode())
            if turns is None:
                await connection.input_audio_buffer.commit()
            seen = []
            async for event in connection:
                seen.append(type(event).__name__)
                if event.type == "error":
                    check(f"openai-python: {name}", False, event)
                if event.type == DONE:
                    check(f"openai-python: {name}", event.transcript, f"{len(seen)} events: {event.transcript[:80]}")
                    break
    async with client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
        await connection.session.update(session={"type": "transcription", "audio": {"input": {"turn_detection": None}}})
        await connection.input_audio_buffer.commit()
        async for event in connection:
            if event.type == "error":
                check("openai-python: an empty commit", event.error.code == "input_audio_buffer_commit_empty")
                break


async def pipecat(turns: object) -> None:
    from loguru import logger

    logger.remove()
    from pipecat.frames.frames import EndFrame, InputAudioRawFrame, VADUserStoppedSpeakingFrame
    from pipecat.pipeline.pipeline import Pipeline
    from pipecat.pipeline.runner import PipelineRunner
    from pipecat.pipeline.task import PipelineParams, PipelineTask
    from pipecat.processors.frame_processor import FrameProcessor
    from pipecat.services.openai.stt import OpenAIRealtimeSTTService

    final, errors, interim = asyncio.Event(), [], []
    texts: list[str] = []

    class Tap(FrameProcessor):
        async def process_frame(self, frame, direction):
            await super().process_frame(frame, direction)
            name = type(frame).__name__
            if name == "TranscriptionFrame":
                texts.append(frame.text)
                final.set()
            if name == "InterimTranscriptionFrame":
                interim.append(frame.text)
            if name == "ErrorFrame":
                errors.append(frame.error)
                final.set()
            await self.push_frame(frame, direction)

    address = URL.replace("http", "ws", 1) + "/v1/realtime"
    service = OpenAIRealtimeSTTService(api_key=KEY, base_url=address, turn_detection=turns)
    task = PipelineTask(Pipeline([service, Tap()]), params=PipelineParams(audio_in_sample_rate=RATE),
                        cancel_on_idle_timeout=False)

    async def feed() -> None:
        await asyncio.sleep(1)
        for block in blocks(PCM + SILENCE):
            await task.queue_frame(InputAudioRawFrame(audio=block, sample_rate=RATE, num_channels=1))
        if turns is False:
            await task.queue_frame(VADUserStoppedSpeakingFrame())
        await asyncio.wait_for(final.wait(), 60)
        await task.queue_frame(EndFrame())
    await asyncio.gather(PipelineRunner(handle_sigint=False).run(task), feed())
    how = "its own turns" if turns is False else "turns by the server"
    check(f"Pipecat: {how}", texts and not errors, f"{len(interim)} interim: {' '.join(texts)[:80]} {errors}")


async def livekit() -> None:
    from livekit import rtc
    from livekit.plugins import openai

    async with aiohttp.ClientSession() as session:
        service = openai.STT(model="gpt-4o-transcribe", use_realtime=True, base_url=f"{URL}/v1", api_key=KEY)
        service._session = session
        stream, seen = service.stream(), []
        final = asyncio.Event()

        async def read() -> None:
            async for event in stream:
                text = event.alternatives[0].text if event.alternatives else ""
                seen.append((event.type.value, text))
                if event.type.value == "final_transcript":
                    final.set()
        reading = asyncio.create_task(read())
        for block in blocks(PCM + SILENCE):
            frame = rtc.AudioFrame(data=block, sample_rate=RATE, num_channels=1, samples_per_channel=len(block) // 2)
            stream.push_frame(frame)
            await asyncio.sleep(0.005)
        await asyncio.wait_for(final.wait(), 60)
        await stream.aclose()
        reading.cancel()
        kinds = [kind for kind, _ in seen]
        text = next(text for kind, text in seen if kind == "final_transcript")
        check("LiveKit", text and "start_of_speech" in kinds, f"{dict((k, kinds.count(k)) for k in kinds)} {text[:80]}")


async def bad_manners() -> None:
    address = URL.replace("http", "ws", 1) + "/v1/realtime?intent=transcription"
    headers = {"Authorization": f"Bearer {KEY}"}
    async with aiohttp.ClientSession() as session:
        socket = await session.ws_connect(address, headers=headers)
        for block in blocks(PCM):
            await socket.send_json({"type": "input_audio_buffer.append", "audio": base64.b64encode(block).decode()})
        socket._response.connection.transport.abort()
        check("the network is unplugged in the middle of speech", True)
        socket = await session.ws_connect(address, headers=headers)
        await socket.receive()
        for text in ("no JSON", "{}", '{"type":"x"}', '{"type":"input_audio_buffer.append","audio":"!"}'):
            await socket.send_str(text)
            event = json.loads((await asyncio.wait_for(socket.receive(), 10)).data)
            check(f"rubbish is told: {text[:20]}", event["type"] == "error", event["error"]["code"])
        await socket.send_bytes(b"\0\1\2")
        check("and bytes", json.loads((await socket.receive()).data)["type"] == "error")
        await socket.close()
        # In real time, to see when text arrives.
        socket = await session.ws_connect(address, headers=headers)
        began, deltas, first = time.monotonic(), [], None

        async def talk() -> None:
            for block in blocks(PCM + SILENCE):
                audio = base64.b64encode(block).decode()
                await socket.send_json({"type": "input_audio_buffer.append", "audio": audio})
                await asyncio.sleep(len(block) / 2 / RATE)
        talking = asyncio.create_task(talk())
        async for message in socket:
            event = json.loads(message.data)
            if event["type"].endswith("transcription.delta"):
                deltas.append(round(time.monotonic() - began, 1))
            if event["type"] == DONE:
                first = event["transcript"]
                break
        talking.cancel()
        check("text comes while somebody speaks", deltas, f"deltas at {deltas} s: {first[:60] if first else ''}")


async def main() -> None:
    await openai_python()
    await livekit()
    await bad_manners()
    await pipecat({"type": "server_vad", "silence_duration_ms": 500})
    await pipecat(False)


asyncio.run(main())
