/** Myna with published weights: a server with a data folder of its own, into which they were imported. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Program, startProgram } from '../../src/testing/program.ts'
import { realWeightsRoot } from '../../src/testing/real-weights.ts'
import { threads } from './machine.ts'
import { childrenOf, cpuOf, peakOf, residentOf } from './tree.ts'
import { run } from './weights.ts'

/** By the model's id in the server, its folder, and the card that it replaces. */
const models = {
  base: ['whisper-base', 'whisper-base'],
  'base-fp32': ['whisper-base-fp32', 'whisper-base-fp32'],
  'tiny.en': ['whisper-tiny.en', 'whisper-tiny.en'],
  kokoro: ['kokoro-82m-q8', 'kokoro-82m-q8'],
} as const
type Imported = keyof typeof models
/** Imported, or inside the program. */
export type ModelId = Imported | 'moonshine-tiny-en'

export interface Measured<T> {
  found: T
  /** Processor seconds of the server and its engines. */
  cpu: number
}

export interface Heard {
  text: string
  /** As the answer names it. */
  language: string
}

/** A transcription that was read as a stream. */
export interface Followed {
  text: string
  /** From the request to the first words. */
  firstTextMs: number
  allMs: number
  cpu: number
  /** Resident bytes of the transcription engine, every two seconds. */
  memoryBytes: number[]
}

export interface Subject {
  follow(model: ModelId, file: File, language: string): Promise<Followed>
  hear(model: ModelId, file: File, language: string | null): Promise<Measured<Heard>>
  /** @returns a WAV file */
  speak(voice: string, text: string): Promise<Measured<Uint8Array<ArrayBuffer>>>
  /** Resident bytes of the transcription engine at its peak. */
  peakBytes(): number
  stop(): Promise<void>
}

/** @param command the command that runs Myna @param ids which models to import */
export async function startImported(
  command: string[],
  ids: readonly Imported[],
): Promise<{ program: Program; stop(): Promise<void> }> {
  const dataDir = mkdtempSync(join(tmpdir(), 'myna-real-'))
  for (const id of ids) {
    const [folder, like] = models[id]
    const path = join(realWeightsRoot, folder)
    await run(...command, 'models', 'import', path, '--as', id, '--like', like, '--data', dataDir)
  }
  const env = {
    MYNA_LOG: 'quiet',
    MYNA_QUEUE_WAIT_MS: '600000',
    MYNA_MAX_TRANSCRIPTION_BYTES: '200000000',
    MYNA_TRANSCRIPTION_THREADS: String(threads),
  }
  const program = await startProgram(dataDir, env, [], command)
  const stop = async () => {
    program.kill('SIGTERM')
    await program.exited
    rmSync(dataDir, { recursive: true, force: true })
  }
  return { program, stop }
}

/** @param command the command that runs Myna @param ids which models to import */
export async function startSubject(
  command: string[],
  ids: readonly Imported[] = Object.keys(models) as Imported[],
): Promise<Subject> {
  const { program, stop } = await startImported(command, ids)
  const measured = async <T>(work: () => Promise<T>): Promise<Measured<T>> => {
    const before = cpuOf(program.pid)
    const found = await work()
    return { found, cpu: cpuOf(program.pid) - before }
  }
  return {
    hear: (model, file, language) =>
      measured(async () => {
        const body = new FormData()
        body.append('file', file)
        body.append('model', model)
        body.append('response_format', 'verbose_json')
        if (language !== null) body.append('language', language)
        const answer = await program.fetch('/v1/audio/transcriptions', program.key, { method: 'POST', body })
        if (!answer.ok) throw new Error(`${model}: ${await answer.text()}`)
        return (await answer.json()) as Heard
      }),
    async follow(model, file, language) {
      const body = new FormData()
      body.append('file', file)
      for (const [name, value] of Object.entries({ model, language, stream: 'true' })) body.append(name, value)
      const memoryBytes: number[] = []
      const sampling = setInterval(
        () => memoryBytes.push(...childrenOf(program.pid).filter(listens).map(residentOf)),
        2000,
      )
      const beganMs = performance.now()
      try {
        const { found, cpu } = await measured(async () => {
          const init = { method: 'POST', body, timeout: false } as RequestInit
          return followed(await program.fetch('/v1/audio/transcriptions', program.key, init), beganMs)
        })
        return { ...found, cpu, memoryBytes, allMs: performance.now() - beganMs }
      } finally {
        clearInterval(sampling)
      }
    },
    speak: (voice, input) =>
      measured(async () => {
        const answer = await program.speak(program.key, { model: 'kokoro', voice, input, response_format: 'wav' })
        if (!answer.ok) throw new Error(`kokoro: ${await answer.text()}`)
        return new Uint8Array(await answer.arrayBuffer())
      }),
    peakBytes: () => Math.max(...childrenOf(program.pid).filter(listens).map(peakOf)),
    stop,
  }
}

const listens = (pid: number): boolean =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('automatic-speech-recognition')

/** @throws Error unless the stream ends with the whole text */
async function followed(answer: Response, beganMs: number): Promise<{ text: string; firstTextMs: number }> {
  if (!answer.ok) throw new Error(await answer.text())
  const decoder = new TextDecoder()
  let [rest, firstTextMs] = ['', 0]
  for await (const bytes of answer.body!) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) {
      if (!line.startsWith('data: {')) continue
      const event = JSON.parse(line.slice('data: '.length)) as { type: string; text?: string }
      if (event.type === 'transcript.text.delta' && firstTextMs === 0) firstTextMs = performance.now() - beganMs
      if (event.type === 'transcript.text.done') return { text: event.text ?? '', firstTextMs }
    }
  }
  throw new Error('the stream ended without transcript.text.done')
}
