/** A whole file to mono samples, inside the Worker: for clips, which are short and looked at as a whole. */
import { MonoReader } from './decode-mono.ts'
import { clipInMemory } from './decode-source.ts'
import { concatFloats } from './pcm.ts'

export interface DecodedFile {
  /** Mono. */
  pcm: Float32Array<ArrayBuffer>
  sampleRateHz: number
  container: string
  codec: string
  mimeType: string
}

/** @throws Refusal */
export async function decodeFile(bytes: Uint8Array<ArrayBuffer>, maxSeconds: number): Promise<DecodedFile> {
  const reader = await MonoReader.open(clipInMemory(bytes), maxSeconds)
  const stretches: Float32Array[] = []
  for await (const stretch of reader.read()) stretches.push(stretch)
  const { container, codec, mimeType } = reader.file
  return { pcm: concatFloats(stretches), sampleRateHz: reader.sampleRateHz, container, codec, mimeType }
}
