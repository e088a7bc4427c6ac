/**
 * A whole file to mono samples, inside the Worker: for clips, which are short and looked at as a whole. A voice is
 * learned from nothing but sound files: what is skipped in a long recording would be a part of it.
 */
import { MonoReader } from './mono.ts'
import { undecodable } from './refusal.ts'
import { clipInMemory } from './source.ts'
import { concatFloats } from '../pcm.ts'

export interface DecodedFile {
  /** Mono. */
  pcm: Float32Array<ArrayBuffer>
  sampleRateHz: number
  container: string
  codec: string
  mimeType: string
}

/** If a container loses only a packet, no listener notices. */
const toleratedShare = 0.02

/** @throws Refusal */
export async function decodeFile(bytes: Uint8Array<ArrayBuffer>, maxSeconds: number): Promise<DecodedFile> {
  const reader = await MonoReader.open(clipInMemory(bytes), maxSeconds)
  const stretches: Float32Array[] = []
  for await (const stretch of reader.read()) stretches.push(stretch)
  const { container, codec, mimeType, title } = reader.file
  const { seconds } = reader.damage
  const lengthSeconds = stretches.reduce((sum, { length }) => sum + length, 0) / reader.sampleRateHz
  if (seconds > toleratedShare * lengthSeconds) {
    throw undecodable(`The audio (${title}) is damaged: ${seconds.toFixed(1)} s of it cannot be decoded.`)
  }
  return { pcm: concatFloats(stretches), sampleRateHz: reader.sampleRateHz, container, codec, mimeType }
}
