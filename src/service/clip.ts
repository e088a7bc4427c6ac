/**
 * Checks what a clip must be before a voice is made from it. All of this is checked before there is an operation, so a
 * refused clip leaves nothing behind: no row, no file, no charge.
 */
import { MynaError } from '../domain/error.ts'
import type { VoiceClip } from '../domain/voice.ts'
import type { VoiceEngine } from './ports.ts'
import type { DecodedClip, Decoder, Sound } from './ports/sound.ts'

export interface ClipParts {
  decoder: Decoder
  engine: VoiceEngine
  sound: Sound
}

export interface ClipLimits {
  minClipSeconds: number
  maxClipSeconds: number
}

export interface ClipFile {
  /** As the client named it. */
  name: string
  bytes: Uint8Array
}

export interface CheckedClip {
  clip: VoiceClip
  /** Mono; what the model hears. */
  reference: { pcm: Int16Array; sampleRateHz: number }
}

const leastLevelDb = -50
const leastSpeechMs = 1000
/** The input of voice activity detection. */
const detectionHz = 16_000
const referenceHz = 24_000

/**
 * @throws MynaError `clip_undecodable`, `clip_too_short`, `clip_too_long`, `clip_silent`, each with the lengths as
 * extras where they matter; `engine_unavailable`, `generation_failed`; the signal's reason
 */
export async function checkClip(
  file: ClipFile,
  parts: ClipParts,
  limits: ClipLimits,
  signal: AbortSignal,
): Promise<CheckedClip> {
  const decoded = await decode(file, parts.decoder, limits, signal)
  const seconds = decoded.pcm.length / decoded.sampleRateHz
  const { minClipSeconds, maxClipSeconds } = limits
  if (seconds < minClipSeconds) {
    const message = `The clip lasts ${seconds.toFixed(1)} s; at least ${minClipSeconds} s are needed.`
    throw refusal('clip_too_short', message, lengths(limits, seconds))
  }
  if (seconds > maxClipSeconds) throw tooLong(limits, seconds)
  await requireSpeech(decoded, parts, lengths(limits, seconds), signal)
  const { pcm, sampleRateHz } = decoded
  return {
    clip: {
      fileName: file.name,
      mimeType: decoded.mimeType,
      sizeBytes: file.bytes.length,
      durationMs: Math.round(seconds * 1000),
      hash: new Bun.CryptoHasher('sha256').update(file.bytes).digest('hex'),
    },
    reference: { pcm: await parts.sound.reference(pcm, sampleRateHz), sampleRateHz: referenceHz },
  }
}

async function decode(
  { bytes }: ClipFile,
  decoder: Decoder,
  limits: ClipLimits,
  signal: AbortSignal,
): Promise<DecodedClip> {
  try {
    return await decoder.decode(bytes, { maxSeconds: limits.maxClipSeconds }, signal)
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof MynaError)) throw error
    if (error.code === 'clip_too_long') throw tooLong(limits, null)
    if (error.code === 'clip_undecodable') throw refusal(error.code, error.message, error.extras)
    throw error
  }
}

async function requireSpeech(
  decoded: DecodedClip,
  { engine, sound }: ClipParts,
  about: Record<string, unknown>,
  signal: AbortSignal,
): Promise<void> {
  if (sound.levelDb(decoded.pcm) < leastLevelDb) {
    throw refusal('clip_silent', `The clip is almost silent: its level is below ${leastLevelDb} dBFS.`, about)
  }
  const spans = await engine.detectSpeech(await heard(decoded, sound), signal)
  const speechMs = spans.reduce((sum, span) => sum + span.endMs - span.startMs, 0)
  if (speechMs >= leastSpeechMs) return
  const seconds = (speechMs / 1000).toFixed(1)
  throw refusal('clip_silent', `The clip contains ${seconds} s of speech; at least 1 s is needed.`, about)
}

async function heard({ pcm, sampleRateHz }: DecodedClip, sound: Sound): Promise<Int16Array> {
  try {
    return await sound.resampled(pcm, sampleRateHz, detectionHz)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw refusal('clip_undecodable', `The clip could not be decoded: its sample rate is ${sampleRateHz} Hz.`, {})
  }
}

function tooLong(limits: ClipLimits, seconds: number | null): MynaError {
  const most = `at most ${limits.maxClipSeconds} s are accepted.`
  const message = seconds === null ? `The clip is too long; ${most}` : `The clip lasts ${seconds.toFixed(1)} s; ${most}`
  return refusal('clip_too_long', message, lengths(limits, seconds))
}

const lengths = ({ minClipSeconds, maxClipSeconds }: ClipLimits, seconds: number | null) => ({
  ...(seconds === null ? {} : { duration_seconds: Math.round(seconds * 1000) / 1000 }),
  min_seconds: minClipSeconds,
  max_seconds: maxClipSeconds,
})

const refusal = (
  code: 'clip_undecodable' | 'clip_too_short' | 'clip_too_long' | 'clip_silent',
  message: string,
  extras: Record<string, unknown>,
): MynaError => new MynaError(code, message, { param: 'file', extras })
