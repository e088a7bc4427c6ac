/** One speech request of the page: sent, played while it arrives, and reported as in the server's record. */
import { ApiError, get, jsonType, request, send } from '../api.ts'
import { type Playback, playMp3, playPcm, playWhole, streamsMp3 } from './playback.ts'
import { wavOf } from '../recording/wav.ts'

export const formats = ['wav', 'mp3', 'opus', 'flac', 'aac', 'pcm'] as const
export type Format = (typeof formats)[number]

const types: Readonly<Record<Format, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
  pcm: 'application/octet-stream',
}
const sampleRateHz = 24_000

export interface SpeechAsk {
  input: string
  voice: string | null
  model: string | null
  format: Format
  speed: number
}

export interface Operation {
  id: string
  state: 'pending' | 'terminal'
  outcome: string | null
  charged_micros: number
  completion_bytes?: number
}

/** Known so far, while it runs. */
export interface Progress {
  operationId: string | null
  /** From the request to the first audible sound. */
  firstSoundMs: number | null
  /** From the request to the last byte. */
  tookMs: number | null
  receivedBytes: number
}

export interface Spoken extends Progress {
  operation: Operation | null
  format: Format
  /** In the requested format; if it failed, what arrived before that. */
  file: Blob
  isWhole: boolean
  error: Error | null
}

/** Playback is 24 kHz, 16 bit, mono. */
export const secondsOf = (operation: Operation | null): number | null =>
  operation?.completion_bytes === undefined ? null : operation.completion_bytes / 2 / sampleRateHz

/**
 * Resolves when it has been played to its end.
 * @param onProgress called whenever more is known
 * @param onSpoken called once, when everything has arrived and is settled; playback may continue
 * @param signal ends it: the server stops at once
 */
export async function speak(
  ask: SpeechAsk,
  onProgress: (progress: Progress) => void,
  onSpoken: (spoken: Spoken) => void,
  signal: AbortSignal,
): Promise<void> {
  const beganMs = performance.now()
  const progress: Progress = { operationId: null, firstSoundMs: null, tookMs: null, receivedBytes: 0 }
  const tell = (change: Partial<Progress>) => onProgress(Object.assign(progress, change))
  const playback = playbackOf(ask.format, () => tell({ firstSoundMs: performance.now() - beganMs }))
  const parts: Uint8Array<ArrayBuffer>[] = []
  let error: Error | null = null
  signal.addEventListener('abort', () => playback.stop(), { once: true })
  try {
    const answer = await request('/v1/audio/speech', requestOf(ask, signal))
    tell({ operationId: answer.headers.get('x-request-id') })
    for await (const part of answer.body ?? []) {
      parts.push(part)
      playback.push(part)
      tell({ receivedBytes: progress.receivedBytes + part.length })
    }
    tell({ tookMs: performance.now() - beganMs })
  } catch (cause) {
    playback.stop()
    // The caller that ended it knows.
    if (!signal.aborted) error = cause instanceof ApiError ? cause : new Error('The stream failed before its end.')
  }
  const heard = error === null && !signal.aborted ? playback.finish() : null
  const operation = progress.operationId === null ? null : await settled(progress.operationId)
  const file = ask.format === 'wav' ? wavOf(parts, sampleRateHz) : new Blob(parts, { type: types[ask.format] })
  const isWhole = operation?.outcome === 'completed'
  // A cancelled stream ends early; that is not a failure.
  if (operation?.outcome === 'cancelled') error = null
  onSpoken({ ...progress, operation, format: ask.format, file, isWhole, error })
  await heard
}

/** WAV is requested as PCM: the header is made here, with the true length. */
function requestOf({ input, voice, model, format, speed }: SpeechAsk, signal: AbortSignal): RequestInit {
  const body = {
    input,
    speed,
    response_format: format === 'wav' ? 'pcm' : format,
    ...(voice === null ? {} : { voice }),
    ...(model === null ? {} : { model }),
  }
  return { method: 'POST', headers: jsonType, body: JSON.stringify(body), signal }
}

function playbackOf(format: Format, onSound: () => void): Playback {
  if (format === 'wav' || format === 'pcm') return playPcm(sampleRateHz, onSound)
  return format === 'mp3' && streamsMp3() ? playMp3(onSound) : playWhole(types[format], onSound)
}

export const cancel = (operationId: string): Promise<unknown> =>
  send('POST', `/v1/operations/${operationId}/cancel`).catch(() => null)

const looks = 20
const pauseMs = 150

/** The operation is settled just before or after the last byte. @returns null: the server cannot be reached */
async function settled(operationId: string): Promise<Operation | null> {
  let operation: Operation | null = null
  for (let look = 0; look < looks; look++) {
    operation = await get<Operation>(`/v1/operations/${operationId}`).catch(() => null)
    if (operation === null || operation.state === 'terminal') return operation
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  return operation
}
