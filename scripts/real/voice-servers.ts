/** Servers of voice in processes of their own, as their users run them: Myna, fastkokoro and faster-whisper-server. */
import { existsSync, mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { realWeightsRoot } from '../../src/testing/real-weights.ts'
import type { Clip } from './clips.ts'
import { fileOf } from './listeners.ts'
import { threads, threadSettings } from './machine.ts'
import { peerPython, serverProgram } from './peer-packages.ts'
import { startImported } from './subject.ts'
import { voice } from './texts.ts'
import { ct2Of, run, work } from './weights.ts'

export interface VoiceServer {
  /** Its first process. */
  pid: number
  end(): Promise<void>
}

/** Answers with 16-bit samples at 24 kHz. @param streamed false: the whole sound at once, where that can be asked */
export interface SpeakingServer extends VoiceServer {
  speak(text: string, streamed: boolean): Promise<Response>
}

/** Answers with JSON that has `text`. */
export interface HearingServer extends VoiceServer {
  hear(clip: Clip): Promise<Response>
}

export async function mynaSpeaks(command: string[]): Promise<SpeakingServer> {
  const { program, stop } = await startImported(command, ['kokoro'])
  return {
    pid: program.pid,
    end: stop,
    speak: (input) => program.speak(program.key, { model: 'kokoro', voice, input, response_format: 'pcm' }),
  }
}

export async function mynaHears(command: string[], model: 'base' | 'base-fp32'): Promise<HearingServer> {
  const { program, stop } = await startImported(command, [model])
  return {
    pid: program.pid,
    end: stop,
    hear: async (clip) => {
      const body = await formOf(clip, { model, language: 'en' })
      return program.fetch('/v1/audio/transcriptions', program.key, { method: 'POST', body })
    },
  }
}

export async function fastkokoro(): Promise<SpeakingServer> {
  const place = join(work, 'fastkokoro')
  mkdirSync(place, { recursive: true })
  const voices = join(place, 'voices.npz')
  const model = join(realWeightsRoot, 'kokoro-82m-q8')
  if (!existsSync(voices))
    await run(peerPython, join(import.meta.dir, 'peers.py'), 'pack', join(model, 'voices'), voices)
  const port = await freePort()
  const server = await started(port, [serverProgram('fastkokoro')], {
    FASTKOKORO_MODEL_PATH: join(model, 'model.onnx'),
    FASTKOKORO_VOICES_PATH: voices,
    FASTKOKORO_CACHE_DIR: place,
    FASTKOKORO_HOST: '127.0.0.1',
    FASTKOKORO_PORT: String(port),
    FASTKOKORO_ONNX_INTRA_OP_NUM_THREADS: String(threads),
  })
  return {
    ...server,
    speak: (input, stream) =>
      fetch(`http://127.0.0.1:${port}/v1/audio/speech`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'kokoro', voice, input, response_format: 'pcm', stream }),
      }),
  }
}

export async function fasterWhisperServer(): Promise<HearingServer> {
  const port = await freePort()
  const config = join(work, 'faster-whisper-server.json')
  const model_options = { device: 'cpu', compute_type: 'int8', cpu_threads: threads }
  const model = { name: 'base', path: ct2Of('whisper-base'), model_options, transcribe_options: { beam_size: 1 } }
  await Bun.write(config, JSON.stringify({ models: [model] }))
  const flags = ['--config', config, '--host', '127.0.0.1', '--port', String(port)]
  const server = await started(port, [serverProgram('faster-whisper-server'), ...flags], {})
  return {
    ...server,
    hear: async (clip) => {
      const body = await formOf(clip, { model_name: 'base', language: 'en' })
      return fetch(`http://127.0.0.1:${port}/v1/audio/transcriptions`, { method: 'POST', body })
    },
  }
}

async function formOf(clip: Clip, fields: Record<string, string>): Promise<FormData> {
  const body = new FormData()
  body.append('file', fileOf(await Bun.file(clip.path).bytes(), clip.path.split('/').at(-1)!))
  for (const [name, value] of Object.entries(fields)) body.append(name, value)
  return body
}

/** Waits until it answers. @throws Error with the end of what it wrote, if it ends or is silent for two minutes */
async function started(port: number, command: string[], settings: Record<string, string>): Promise<VoiceServer> {
  const env = { ...process.env, ...threadSettings, ...settings, HF_HUB_OFFLINE: '1' }
  const child = Bun.spawn(command, { stdout: 'ignore', stderr: 'pipe', env })
  let errors = ''
  const read = (async () => {
    for await (const block of child.stderr) errors = (errors + new TextDecoder().decode(block)).slice(-2000)
  })()
  const end = async () => {
    child.kill('SIGTERM')
    await Promise.all([child.exited, read])
  }
  for (const endMs = Date.now() + 120_000; Date.now() < endMs; await Bun.sleep(200)) {
    if (child.exitCode !== null) throw new Error(`${command[0]!.split('/').at(-1)} ended: ${errors}`)
    const answer = await fetch(`http://127.0.0.1:${port}/health`).catch(() => null)
    if (answer?.ok === true) return { pid: child.pid, end }
  }
  await end()
  throw new Error(`${command[0]!.split('/').at(-1)} does not answer: ${errors}`)
}

const freePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
