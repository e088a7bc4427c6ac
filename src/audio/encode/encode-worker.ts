/**
 * One thread of the encoder pool: many streams, distinguished by number, each with its codec. Calls are answered in
 * order. A refused rate is answered to its stream. Anything else that a codec throws ends the thread, because the
 * memory that its streams share may be damaged; the pool informs them and starts another thread.
 */
import { aacCodec } from './aac.ts'
import { type Codec, type CodecFormat, UnsupportedRate } from './codec.ts'
import { flacCodec } from './flac.ts'
import { mp3Codec } from './mp3.ts'
import { opusCodec } from './opus.ts'

export type EncodeCall =
  | ({ name: 'open'; stream: number } & OpenCall)
  | { name: 'encode'; stream: number; pcm: Int16Array }
  | { name: 'finish'; stream: number }
  | { name: 'close'; stream: number }

export interface OpenCall {
  format: CodecFormat
  sampleRateHz: number
  /** Path of libopus, for Opus. */
  library: string
}

/** The answer to every call but `close`. */
export type EncodeAnswer = (Encoded & { stream: number }) | { stream: number; refused: string }

export interface Encoded {
  bytes: Uint8Array
  /** How long the codec took. */
  busyMs: number
}

declare const self: Worker

const codecs = new Map<number, Codec>()

self.onmessage = async ({ data: call }: MessageEvent<EncodeCall>): Promise<void> => {
  switch (call.name) {
    case 'open':
      return open(call.stream, call)
    case 'encode':
      return answer(call.stream, () => codecOf(call.stream).encode(call.pcm))
    case 'finish': {
      const codec = codecOf(call.stream)
      codecs.delete(call.stream)
      return answer(call.stream, () => codec.finish())
    }
    case 'close':
      codecs.get(call.stream)?.close()
      codecs.delete(call.stream)
  }
}

async function open(stream: number, call: OpenCall): Promise<void> {
  try {
    codecs.set(stream, await openCodec(call))
    answer(stream, () => new Uint8Array(0))
  } catch (error) {
    if (!(error instanceof UnsupportedRate)) throw error
    const refusal: EncodeAnswer = { stream, refused: error.message }
    self.postMessage(refusal)
  }
}

function openCodec({ format, sampleRateHz, library }: OpenCall): Codec | Promise<Codec> {
  switch (format) {
    case 'mp3':
      return mp3Codec(sampleRateHz)
    case 'opus':
      return opusCodec(sampleRateHz, library)
    case 'flac':
      return flacCodec(sampleRateHz)
    case 'aac':
      return aacCodec(sampleRateHz)
    default:
      throw new Error(`no encoder for ${format satisfies never}`)
  }
}

function codecOf(stream: number): Codec {
  const codec = codecs.get(stream)
  if (codec === undefined) throw new Error(`no stream ${stream}`)
  return codec
}

function answer(stream: number, encode: () => Uint8Array<ArrayBuffer>): void {
  const beganMs = performance.now()
  const bytes = encode()
  const reply: EncodeAnswer = { stream, bytes, busyMs: performance.now() - beganMs }
  self.postMessage(reply, [bytes.buffer])
}
