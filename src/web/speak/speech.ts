/** One speech request of the page: sent, taken as it arrives, and looked up in the server's record. */
import { ApiError, get, jsonType, request, send } from '../api.ts'

export const formats = ['wav', 'mp3', 'opus', 'flac', 'aac', 'pcm'] as const
export type Format = (typeof formats)[number]

export const typeOf: Readonly<Record<Format, string>> = {
  wav: 'audio/wav',
  mp3: 'audio/mpeg',
  opus: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
  pcm: 'application/octet-stream',
}

/** Speech is 24 kHz, 16 bit, mono. */
export const sampleRateHz = 24_000

export interface SpeechAsk {
  input: string
  voice: string | null
  model: string | null
  format: Format
  speed: number
}

interface Operation {
  state: 'pending' | 'terminal'
  outcome: string | null
  charged_micros: number
  completion_bytes?: number
}

/** What the server wrote about a request. */
export interface Settled {
  outcome: string | null
  seconds: number
  chargedMicros: number
}

type Take = (bytes: Uint8Array<ArrayBuffer>) => void

/**
 * @param onAccepted given the operation's id, before the first sound
 * @throws ApiError; the signal's reason; Error when the stream ends early
 */
export async function speak(ask: SpeechAsk, onAccepted: (id: string) => void, take: Take, signal: AbortSignal) {
  const answer = await request('/v1/audio/speech', requestOf(ask, signal))
  const id = answer.headers.get('x-request-id')
  if (id !== null) onAccepted(id)
  try {
    for await (const part of answer.body ?? []) take(part)
  } catch (cause) {
    throw signal.aborted || cause instanceof ApiError ? cause : new Error('The stream failed before its end.')
  }
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

export const cancel = (id: string): Promise<unknown> => send('POST', `/v1/operations/${id}/cancel`).catch(() => null)

const looks = 20
const pauseMs = 150

/** The operation is settled just before or after the last byte. @returns null: the server cannot be reached */
export async function settled(id: string): Promise<Settled | null> {
  let operation: Operation | null = null
  for (let look = 0; look < looks; look++) {
    operation = await get<Operation>(`/v1/operations/${id}`).catch(() => null)
    if (operation === null || operation.state === 'terminal') break
    await new Promise((resolve) => setTimeout(resolve, pauseMs))
  }
  if (operation === null) return null
  const seconds = (operation.completion_bytes ?? 0) / 2 / sampleRateHz
  return { outcome: operation.outcome, seconds, chargedMicros: operation.charged_micros }
}
