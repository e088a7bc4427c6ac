/** Myna with published weights: a server with a data folder of its own, into which they were imported. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuTicks } from '../../src/testing/process.ts'
import { startProgram } from '../../src/testing/program.ts'
import { realWeightsRoot } from '../../src/testing/real-weights.ts'
import { run } from './weights.ts'

const ticksPerSecond = 100

/** By the id in the server, the folder and the card in whose place it stands. */
const models = {
  base: ['whisper-base', 'whisper-base'],
  'base-fp32': ['whisper-base-fp32', 'whisper-base-fp32'],
  'tiny.en': ['whisper-tiny.en', 'whisper-tiny.en'],
  kokoro: ['kokoro-82m-q8', 'kokoro-82m-q8'],
} as const
export type ModelId = keyof typeof models

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

export interface Subject {
  hear(model: ModelId, file: File, language: string | null): Promise<Measured<Heard>>
  /** @returns a WAV file */
  speak(voice: string, text: string): Promise<Measured<Uint8Array<ArrayBuffer>>>
  /** Resident bytes of the transcription engine at its peak. */
  peakBytes(): number
  stop(): Promise<void>
}

/** @param command what runs Myna */
export async function startSubject(command: string[]): Promise<Subject> {
  const dataDir = mkdtempSync(join(tmpdir(), 'myna-real-'))
  for (const [id, [folder, like]] of Object.entries(models)) {
    const path = join(realWeightsRoot, folder)
    await run(...command, 'models', 'import', path, '--as', id, '--like', like, '--data', dataDir)
  }
  const program = await startProgram(dataDir, { MYNA_LOG: 'quiet', MYNA_QUEUE_WAIT_MS: '600000' }, [], command)
  const measured = async <T>(work: () => Promise<T>): Promise<Measured<T>> => {
    const before = ticksOf(program.pid)
    const found = await work()
    return { found, cpu: (ticksOf(program.pid) - before) / ticksPerSecond }
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
    speak: (voice, input) =>
      measured(async () => {
        const answer = await program.speak(program.key, { model: 'kokoro', voice, input, response_format: 'wav' })
        if (!answer.ok) throw new Error(`kokoro: ${await answer.text()}`)
        return new Uint8Array(await answer.arrayBuffer())
      }),
    peakBytes: () => Math.max(...childrenOf(program.pid).filter(listens).map(peakOf)),
    async stop() {
      program.kill('SIGTERM')
      await program.exited
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** An engine that has ended takes its time with it: none does here, for they are kept. */
const ticksOf = (pid: number): number => [pid, ...childrenOf(pid)].reduce((sum, one) => sum + cpuTicks(one), 0)

const childrenOf = (pid: number): number[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean).map(Number),
  )

const listens = (pid: number): boolean =>
  readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('automatic-speech-recognition')

const peakOf = (pid: number): number =>
  1024 * Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0)
