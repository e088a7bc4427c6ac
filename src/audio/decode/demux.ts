/**
 * Says what a file contains: container, codec, channels, rate, and its packets. mediabunny is the only demuxer; here
 * its formats, names and refusals become ours.
 */
import {
  ADTS,
  AudioSampleSink,
  type EncodedPacket,
  EncodedPacketSink,
  FLAC,
  Input,
  type InputAudioTrack,
  type InputFormat,
  MATROSKA,
  MP3,
  MP4,
  OGG,
  QTFF,
  WAVE,
  WEBM,
} from 'mediabunny'
import { refuseFalseChunks } from './chunk-tables.ts'
import { adtsHeader, mpegHeader, type ReadHeader } from './frame-headers.ts'
import { framesOf } from './frames.ts'
import { type Packet, withGaps, withoutGaps } from './packet.ts'
import { oggPacketsOf } from './pages.ts'
import type { Planes, StreamFacts } from './planes.ts'
import { refusalOf, undecodable, unsupported } from './refusal.ts'
import { resumed, type Units } from './resume.ts'
import { type ClipBytes, laterPart, pastId3 } from './source.ts'
import { clustersOf, fragmentsOf } from './units.ts'
import { toTheEnd, unreadFlac, unreadMatroska, unreadMp4, type Unread } from './unread.ts'

export type ContainerName = 'wav' | 'mp3' | 'flac' | 'ogg' | 'adts' | 'mp4' | 'mov' | 'webm' | 'mkv'

interface Container {
  format: InputFormat
  name: ContainerName
  title: string
  mimeType: string
}

/** Tried in this order. HLS is left out: it would ask for other files. */
const containers: readonly Container[] = [
  { format: WAVE, name: 'wav', title: 'WAV', mimeType: 'audio/wav' },
  { format: FLAC, name: 'flac', title: 'FLAC', mimeType: 'audio/flac' },
  { format: OGG, name: 'ogg', title: 'Ogg', mimeType: 'audio/ogg' },
  { format: MP4, name: 'mp4', title: 'MP4', mimeType: 'audio/mp4' },
  { format: QTFF, name: 'mov', title: 'QuickTime', mimeType: 'video/quicktime' },
  { format: WEBM, name: 'webm', title: 'WebM', mimeType: 'audio/webm' },
  { format: MATROSKA, name: 'mkv', title: 'Matroska', mimeType: 'audio/x-matroska' },
  { format: MP3, name: 'mp3', title: 'MP3', mimeType: 'audio/mpeg' },
  { format: ADTS, name: 'adts', title: 'AAC', mimeType: 'audio/aac' },
]

const codecTitles: Readonly<Record<string, string>> = {
  ac3: 'AC-3',
  eac3: 'E-AC-3',
  dts: 'DTS',
  alac: 'ALAC',
  A_ALAC: 'ALAC',
  samr: 'AMR',
  sawb: 'AMR-WB',
}

const maxChannels = 8
const minRateHz = 4000
const maxRateHz = 192_000

export interface OpenedFile extends StreamFacts {
  container: ContainerName
  mimeType: string
  isPcm: boolean
  /** As the file states; null: it does not. */
  declaredSeconds: number | null
  /** A name for messages to the client. */
  title: string
  packets(): AsyncIterable<Packet> | Iterable<Packet>
  /** For PCM: the samples themselves, because they need no decoder. */
  planes(): AsyncIterable<Planes>
}

/** @throws Refusal when it is not audio, not supported or out of the limits; Error when it is damaged */
export async function openFile(clip: ClipBytes): Promise<OpenedFile> {
  const { track, format, bytes, isAlone } = await findTrack(clip)
  const container = containers.find((known) => known.format === format)
  if (container === undefined) throw refusalOf(clip.head)
  const { codec, numberOfChannels: channels, sampleRate: sampleRateHz } = track
  if (codec === null) throw await unknownCodec(track, container)
  const title = `${codecTitles[codec] ?? codec} in ${container.title}`
  if (!(channels >= 1 && channels <= maxChannels)) {
    throw undecodable(`The file has ${channels} channels; at most ${maxChannels} can be decoded.`)
  }
  if (!(sampleRateHz >= minRateHz && sampleRateHz <= maxRateHz)) {
    throw undecodable(`A sample rate of ${sampleRateHz} Hz is not supported, only ${minRateHz} to ${maxRateHz}.`)
  }
  const description = (await track.getDecoderConfig())?.description
  const ticksHz = await track.getTimeResolution()
  const facts: StreamFacts = {
    codec,
    channels,
    sampleRateHz,
    description: description === undefined ? null : bytesOf(description),
  }
  const declaredSeconds = await track.getDurationFromMetadata()
  return {
    container: container.name,
    mimeType: container.mimeType,
    ...facts,
    isPcm: codec.startsWith('pcm-') || codec === 'ulaw' || codec === 'alaw',
    declaredSeconds,
    title,
    packets: () => packetsOf(container.name, { track, bytes, isAlone, facts, ticksHz, declaredSeconds }),
    planes: () => pcmOf(track),
  }
}

interface Opened extends Pick<Found, 'track' | 'bytes' | 'isAlone'> {
  facts: StreamFacts
  /** What the container's times count. */
  ticksHz: number
  declaredSeconds: number | null
}

/**
 * Where a file is damaged, mediabunny ends without an error; `unread` reports what it left. Ogg and streams of MPEG
 * frames are parsed here, and with clusters and fragments the demuxer is made to continue.
 */
function packetsOf(name: ContainerName, { track, bytes, isAlone, facts, ticksHz, declaredSeconds }: Opened) {
  const resuming = (units: Units, unread: Unread) => {
    const reopen = async (mended: ClipBytes) => sinkOf((await findTrack(mended)).track)
    return toTheEnd(withGaps(resumed(bytes, sinkOf(track), units, reopen)), unread)
  }
  // The file's duration is that of its longest track.
  const toldSeconds = isAlone ? declaredSeconds : null
  switch (name) {
    case 'mp3':
      return framesOf(bytes, mpegHeader(facts), facts.sampleRateHz)
    case 'adts':
      return framesOf(bytes, adtsHeader(facts), facts.sampleRateHz)
    case 'flac':
      return toTheEnd(withoutGaps(sinkOf(track)), unreadFlac(bytes, declaredSeconds))
    case 'ogg':
      return oggPacketsOf(bytes, facts.codec, facts.sampleRateHz)
    case 'webm':
    case 'mkv':
      return resuming(clustersOf(bytes), unreadMatroska(bytes, toldSeconds))
    default: {
      const fragments = fragmentsOf(bytes, track.id, ticksHz)
      return resuming(fragments, unreadMp4(bytes, toldSeconds, fragments))
    }
  }
}

/** One by one: the sink's own iterator reads ahead, and an error there costs the packets that wait before it. */
async function* sinkOf(track: InputAudioTrack): AsyncGenerator<EncodedPacket> {
  const sink = new EncodedPacketSink(track)
  let packet = await sink.getFirstPacket()
  for (; packet !== null; packet = await sink.getNextPacket(packet)) yield packet
}

interface Found {
  track: InputAudioTrack
  format: InputFormat
  /** The file from the start of the audio. */
  bytes: ClipBytes
  /** No pictures, and no other sound. */
  isAlone: boolean
}

/** @throws Refusal */
async function findTrack(bytes: ClipBytes): Promise<Found> {
  const input = new Input({ source: bytes.source, formats: containers.map(({ format }) => format) })
  try {
    refuseFalseChunks(bytes)
    const track = await input.getPrimaryAudioTrack()
    if (track !== null) {
      return { track, format: await input.getFormat(), bytes, isAlone: (await input.getTracks()).length === 1 }
    }
  } catch (cause) {
    const start = startOf(bytes)
    if (start > 0) return findTrack(laterPart(bytes, start))
    const refusal = refusalOf(bytes.head)
    refusal.cause = cause
    throw refusal
  }
  throw (await input.getTracks()).length > 0
    ? undecodable('The file has no audio, only pictures.')
    : refusalOf(bytes.head)
}

async function unknownCodec(track: InputAudioTrack, container: Container): Promise<Error> {
  const id = await track.getInternalCodecId()
  const name = typeof id === 'string' ? (codecTitles[id] ?? `"${id.trim()}"`) : 'An unknown codec'
  return unsupported(`${name} in ${container.title}`)
}

async function* pcmOf(track: InputAudioTrack): AsyncIterable<Planes> {
  for await (const sample of new AudioSampleSink(track).samples()) {
    const channels = Array.from({ length: sample.numberOfChannels }, (_, planeIndex) => {
      const plane = new Float32Array(sample.numberOfFrames)
      sample.copyTo(plane, { planeIndex, format: 'f32-planar' })
      return plane
    })
    sample.close()
    yield { channels, sampleRateHz: sample.sampleRate }
  }
}

const bytesOf = (source: ArrayBufferLike | ArrayBufferView): Uint8Array =>
  ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source)

// Start of the audio if something precedes it: tags, or leftovers of a recorder or a broken download.
/** How far to search for it. */
const searchedBytes = 65_536
const framesNeeded = 4
const signatures = ['OggS\0', 'fLaC\0']
const rates = [48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000]
const headers: readonly ReadHeader[] = rates.flatMap((sampleRateHz) => [
  mpegHeader({ sampleRateHz, channels: 1 }),
  mpegHeader({ sampleRateHz, channels: 2 }),
  adtsHeader({ sampleRateHz }),
])

/** @returns 0 when it is not found further on */
function startOf(clip: ClipBytes): number {
  const past = pastId3(clip, 0)
  if (past > 0 && past < clip.sizeBytes) return past
  const head = Buffer.from(clip.read(0, searchedBytes))
  const found = signatures.map((signature) => head.indexOf(signature, 1, 'latin1')).filter((at) => at > 0)
  if (found.length > 0) return Math.min(...found)
  for (let at = head.indexOf(0xff, 1); at > 0; at = head.indexOf(0xff, at + 1)) {
    if (headers.some((readHeader) => isStream(clip, at, readHeader))) return at
  }
  return 0
}

function isStream(clip: ClipBytes, start: number, readHeader: ReadHeader): boolean {
  for (let at = start, left = framesNeeded; left > 0; left--) {
    const header = readHeader(clip.read(at, at + 64))
    if (header === null) return false
    at += header.sizeBytes
  }
  return true
}
