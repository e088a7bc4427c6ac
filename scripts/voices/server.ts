/** Myna as its users have it, in a data folder of its own, and the processor time that each request takes. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { cpuTicks } from '../../src/testing/process.ts'
import { startProgram } from '../../src/testing/program.ts'
import { realWeightsRoot } from '../../src/testing/real-weights.ts'
import { childrenOf } from '../real/tree.ts'
import { run } from '../real/weights.ts'

const ticksPerSecond = 100

export interface Took<T> {
  found: T
  /** Processor seconds of the server and its engines. */
  cpu: number
}

export interface Server {
  /** @returns a WAV file */
  speak(model: string, voice: string, input: string): Promise<Took<Uint8Array<ArrayBuffer>>>
  /** @returns what whisper-base hears */
  hear(wav: Uint8Array<ArrayBuffer>): Promise<string>
  /** @returns the id of the voice, once it is ready; null: the model refuses the clip */
  clone(clip: Uint8Array<ArrayBuffer>): Promise<Took<string | null>>
  stop(): Promise<void>
}

/** @param folders of models below the folder of published weights, each named as its card */
export async function startServer(command: string[], folders: readonly string[]): Promise<Server> {
  const dataDir = mkdtempSync(join(tmpdir(), 'myna-voices-'))
  for (const id of folders) {
    const names = ['--as', `own-${id}`, '--like', id]
    await run(...command, 'models', 'import', join(realWeightsRoot, id), ...names, '--data', dataDir)
  }
  const rates = {
    MYNA_CLONES_PER_MINUTE: '100000',
    MYNA_SPEECH_PER_MINUTE: '100000',
    MYNA_TRANSCRIPTIONS_PER_MINUTE: '100000',
  }
  const env = { ...rates, MYNA_LOG: 'quiet', MYNA_QUEUE_WAIT_MS: '600000', MYNA_ENGINE_STALL_MS: '600000' }
  const program = await startProgram(dataDir, env, [], command)
  const ticks = () => [program.pid, ...childrenOf(program.pid)].reduce((sum, pid) => sum + cpuTicks(pid), 0)
  const timed = async <T>(work: () => Promise<T>): Promise<Took<T>> => {
    const before = ticks()
    const found = await work()
    return { found, cpu: (ticks() - before) / ticksPerSecond }
  }
  const json = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
    const answer = await program.fetch(path, program.key, init)
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`)
    return (await answer.json()) as T
  }
  const formOf = (wav: Uint8Array<ArrayBuffer>, fields: Record<string, string>) => {
    const body = new FormData()
    body.append('file', new File([wav], 'clip.wav'))
    for (const [name, value] of Object.entries(fields)) body.append(name, value)
    return { method: 'POST', body }
  }
  return {
    speak: (model, voice, input) =>
      timed(async () => {
        const answer = await program.speak(program.key, { model, voice, input, response_format: 'wav' })
        if (!answer.ok) throw new Error(`${voice}: ${await answer.text()}`)
        return new Uint8Array(await answer.arrayBuffer())
      }),
    async hear(wav) {
      const form = formOf(wav, { model: 'own-whisper-base', language: 'en' })
      return (await json<{ text: string }>('/v1/audio/transcriptions', form)).text
    },
    clone: (clip) =>
      timed(async () => {
        const { voice_id: id } = await json<{ voice_id: string }>('/v1/voices', formOf(clip, { name: 'one' }))
        for (;;) {
          const { status, error } = await json<{ status: string; error: { code: string } | null }>(`/v1/voices/${id}`)
          if (status === 'ready') return id
          if (error?.code === 'clip_refused') return null
          if (status === 'failed') throw new Error(`the clip became no voice: ${JSON.stringify(error)}`)
          await Bun.sleep(200)
        }
      }),
    async stop() {
      program.kill('SIGTERM')
      await program.exited
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
