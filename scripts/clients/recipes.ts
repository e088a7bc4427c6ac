/**
 * The recipes of the page Connect for Python and LiveKit, run as they are shown there, and Pipecat as docs/clients.md
 * has it, against a server.
 *
 *   pip install openai==3.57.0 'pipecat-ai[openai]==1.14.0' livekit-agents==1.8.9 livekit-plugins-openai==1.8.9
 *   bun scripts/clients/recipes.ts PYTHON http://127.0.0.1:8790 KEY
 *
 * PYTHON is the interpreter with these packages. Prints what each of them printed; exits 1 at the first failure.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apps } from '../../src/web/connect/apps.ts'

const [python = 'python3', server = '', key = ''] = process.argv.slice(2)
const sentence = 'The birds that imitate voices learn them from anyone who speaks nearby.'

const given = { base: `${server}/v1`, key, host: new URL(server).hostname, wyomingPort: null }
const recipeOf = (id: string): string => apps.find((app) => app.id === id)!.recipe(given).blocks[0]!.text

/** Speaks, and hears what was spoken, with the two services that the recipe makes. */
const useLiveKit = `
import asyncio, aiohttp
from livekit.agents import utils

async def main():
    async with utils.http_context.open():
        frames = [audio.frame async for audio in tts.synthesize("${sentence}")]
        seconds = sum(frame.duration for frame in frames)
        event = await stt.recognize(frames)
        print(f"{len(frames)} frames, {seconds:.2f} s: {event.alternatives[0].text}")
        assert seconds > 2 and "imitate voices" in event.alternatives[0].text

asyncio.run(main())
`

const pipecat = `
import asyncio
from loguru import logger
logger.remove()
from pipecat.frames.frames import EndFrame, TTSAudioRawFrame, TTSSpeakFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.runner import PipelineRunner
from pipecat.pipeline.task import PipelineTask
from pipecat.processors.frame_processor import FrameProcessor
from pipecat.services.openai.tts import OpenAITTSService

class Tap(FrameProcessor):
    got = 0
    async def process_frame(self, frame, direction):
        await super().process_frame(frame, direction)
        if isinstance(frame, TTSAudioRawFrame):
            Tap.got += len(frame.audio) / 2 / frame.sample_rate
        await self.push_frame(frame, direction)

async def main():
    service = OpenAITTSService(base_url="${server}/v1", api_key="${key}")
    task = PipelineTask(Pipeline([service, Tap()]))
    await task.queue_frames([TTSSpeakFrame("${sentence}"), EndFrame()])
    await PipelineRunner(handle_sigint=False).run(task)
    print(f"{Tap.got:.2f} s")
    assert Tap.got > 2

asyncio.run(main())
`

const folder = mkdtempSync(join(tmpdir(), 'myna-recipes-'))
try {
  for (const [name, text] of [
    ['Python', recipeOf('python')],
    ['LiveKit', recipeOf('livekit') + useLiveKit],
    ['Pipecat', pipecat],
  ] as const) {
    const file = join(folder, `${name}.py`)
    await Bun.write(file, text)
    const { stdout, stderr, exitCode } = Bun.spawnSync([python, file], { cwd: folder })
    console.log(exitCode === 0 ? 'ok  ' : 'FAIL', name, stdout.toString().trim())
    if (exitCode !== 0) throw new Error(stderr.toString().slice(-3000))
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
