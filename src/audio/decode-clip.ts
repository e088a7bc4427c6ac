/**
 * A whole file to mono samples, inside the Worker. Everything that a file says of itself is only believed as far as it
 * is there: the limit is held while decoding, by what has come out.
 */
import { UnsupportedAac } from './decode-aac.ts'
import { openPacketDecoder, opusPreSkip } from './decode-codecs.ts'
import { type OpenedFile, openFile, type Packet } from './decode-container.ts'
import { MonoMix } from './decode-mix.ts'
import type { PacketDecoder } from './decode-planes.ts'
import { Refusal, undecodable, unsupported } from './decode-refusal.ts'

export interface DecodedFile {
  /** Mono. */
  pcm: Float32Array<ArrayBuffer>
  sampleRateHz: number
  container: string
  codec: string
  mimeType: string
}

/** What padding and pre-roll may add to what is heard. */
const slackSeconds = 0.25

/** @throws Refusal */
export async function decodeFile(bytes: Uint8Array<ArrayBuffer>, maxSeconds: number): Promise<DecodedFile> {
  let opened: OpenedFile | null = null
  const mix = new MonoMix(maxSeconds + slackSeconds)
  try {
    opened = await openFile(withKnownSize(bytes))
    const trim = opened.isPcm ? noTrim : await decodePackets(opened, mix)
    if (opened.isPcm) for await (const planes of opened.planes()) mix.add(planes)
    const { container, codec, mimeType } = opened
    const pcm = trimmed(mix, trim)
    if (pcm.length === 0) throw undecodable('The file holds no samples.')
    const durationSeconds = pcm.length / mix.sampleRateHz
    if (durationSeconds > maxSeconds) throw tooLong(durationSeconds, maxSeconds)
    return { pcm, sampleRateHz: mix.sampleRateHz, container, codec, mimeType }
  } catch (error) {
    if (mix.isOver) throw tooLong(Math.max(mix.seconds, opened?.declaredSeconds ?? 0), maxSeconds)
    if (error instanceof Refusal) throw error
    const title = opened === null ? 'file' : `audio (${opened.title})`
    const refusal = undecodable(`The ${title} is damaged: it cannot be decoded past ${mix.seconds.toFixed(1)} s.`)
    refusal.cause = error
    throw refusal
  }
}

interface Trim {
  startSeconds: number
  /** Of what is left after that; null: all of it. */
  seconds: number | null
}

const noTrim: Trim = { startSeconds: 0, seconds: null }

async function decodePackets(file: OpenedFile, mix: MonoMix): Promise<Trim> {
  const decoder = await decoderOf(file)
  let first: Packet | null = null
  let last: Packet | null = null
  for await (const packet of file.packets()) {
    first ??= packet
    last = packet
    mix.add(await decoder.decode(packet.data))
  }
  mix.add(await decoder.finish())
  if (first === null || last === null) return noTrim
  const startSeconds = file.codec === 'opus' ? opusPreSkip(file.description) / 48000 : Math.max(0, -first.timestamp)
  // Only in Ogg do the packets' times tell where the padding begins: by the last page's granule position.
  const endSeconds = last.timestamp + last.duration - Math.max(0, first.timestamp)
  return { startSeconds, seconds: file.container === 'ogg' ? endSeconds : null }
}

async function decoderOf(file: OpenedFile): Promise<PacketDecoder> {
  try {
    const decoder = await openPacketDecoder(file)
    if (decoder !== null) return decoder
  } catch (error) {
    if (error instanceof UnsupportedAac) throw unsupported(`${error.message} in ${file.title.split(' in ')[1]}`)
    throw error
  }
  throw unsupported(file.title)
}

function trimmed(mix: MonoMix, { startSeconds, seconds }: Trim): Float32Array<ArrayBuffer> {
  const start = Math.round(startSeconds * mix.sampleRateHz)
  const length = seconds === null ? Infinity : Math.max(0, Math.round(seconds * mix.sampleRateHz))
  return mix.take(start, start + length)
}

/** Some recorders never come back to write the size into the first header; mediabunny then finds nothing. */
function withKnownSize(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const isRiff = bytes.length > 8 && String.fromCharCode(...bytes.subarray(0, 4)) === 'RIFF'
  if (isRiff && bytes.subarray(4, 8).every((byte) => byte === 0)) bytes.fill(0xff, 4, 8)
  return bytes
}

const tooLong = (durationSeconds: number, maxSeconds: number): Refusal => {
  const message = `The clip is longer than ${maxSeconds} seconds.`
  const extras = { duration_seconds: Math.round(durationSeconds * 1000) / 1000, max_seconds: maxSeconds }
  return new Refusal('clip_too_long', message, extras)
}
