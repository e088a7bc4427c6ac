/**
 * A server that transcribes, and recordings for it: the fake engine transcribes `heard n.` for each second with sound.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { sound } from '../../audio/clip.ts'
import { cards } from '../../catalog/cards.ts'
import { CardCatalog } from '../../catalog/catalog.ts'
import type { World } from '../../cli/serve/wiring.ts'
import type { Config } from '../../config.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'

/** @param installed models besides the built-in ones */
export const startListening = (
  settings: Partial<Config> = {},
  installed: readonly string[] = ['whisper-base'],
  change: Partial<World> = {},
): Promise<Instance> =>
  startInstance(
    { transcriptionsPerMinute: 10_000, transcriptionConcurrency: 100, ...settings },
    { catalog: new CardCatalog(cards, ({ id }) => installed.includes(id)), ...change },
  )

/** Without the built-in recogniser, as in a program that was built without it. */
export const deaf = new CardCatalog(
  cards.filter(({ task }) => task === 'text-to-speech'),
  () => false,
)

/** A WAV file, 16 kHz. @param loudness of each second; 0 is silence */
export const recordingOf = (...loudness: number[]): Uint8Array<ArrayBuffer> => {
  const pcm = Int16Array.from({ length: 16_000 * loudness.length }, (_, i) => {
    const level = loudness[Math.floor(i / 16_000)] ?? 0
    return level * Math.sin(i / 20) + Math.sign(level)
  })
  return new Uint8Array(sound.wav(pcm, 16_000))
}

export const recording = recordingOf(9000, 0, 9000)
export const said = 'heard 0. heard 2.'

export function formOf(fields: Record<string, string | Blob | readonly string[]> = {}): FormData {
  const form = new FormData()
  const whole = 'file' in fields ? fields : { ...fields, file: new File([recording], 'talk.wav') }
  for (const [name, value] of Object.entries(whole)) {
    for (const one of value instanceof Blob || typeof value === 'string' ? [value] : value) form.append(name, one)
  }
  return form
}

export const transcribe = (
  { fetch }: Instance,
  key: string,
  fields: Parameters<typeof formOf>[0] = {},
  path = '/v1/audio/transcriptions',
): Promise<Response> => fetch(path, { method: 'POST', key, body: formOf(fields) })

export interface TranscriptionUsage {
  requests: number
  seconds: number
  charged_micros: number
}

export const usageOf = async ({ fetch }: Instance, key: string): Promise<TranscriptionUsage> => {
  const page = (await (await fetch('/v1/usage', { key })).json()) as { totals: { transcription: TranscriptionUsage } }
  return page.totals.transcription
}

/** Uploads still in the data folder. */
export const uploadsOf = ({ dataDir }: Instance): string[] => readdirSync(join(dataDir, 'uploads'))

export const errorOf = async (response: Response): Promise<Record<string, unknown>> =>
  ((await response.json()) as { error: Record<string, unknown> }).error
