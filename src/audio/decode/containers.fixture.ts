/**
 * Files of every container and codec that is decoded, made by real encoders and muxers: the program's own encoders,
 * libvorbis, mediabunny's muxers, and handwritten WAV headers.
 */
import {
  ADTS,
  BufferSource,
  BufferTarget,
  EncodedAudioPacketSource,
  EncodedPacketSink,
  FLAC,
  Input,
  MkvOutputFormat,
  MovOutputFormat,
  MP3,
  Mp4OutputFormat,
  OGG,
  Output,
  type OutputFormat,
  WebMOutputFormat,
} from 'mediabunny'
import { createOggEncoder } from 'wasm-media-encoders'
import type { AudioFormat } from '../../domain/speech.ts'
import { EncoderPool } from '../encode/pool.ts'
import { concatBytes, fromS16 } from '../pcm.ts'

export interface MadeFile {
  bytes: Uint8Array<ArrayBuffer>
  container: string
  codec: string
  mimeType: string
}

/** Speech at 24 kHz, encoded as the program would send it. */
export async function encodedFile(format: AudioFormat, pcm: Int16Array): Promise<Uint8Array<ArrayBuffer>> {
  const pool = new EncoderPool({ workers: 1 })
  const encoder = await pool.open(format, 24000)
  const bytes = concatBytes([await encoder.encode(pcm), await encoder.finish()])
  pool.close()
  return bytes
}

/** Speech at 24 kHz as a file of each kind, keyed by a name for the test. */
export async function everyContainer(pcm: Int16Array): Promise<Map<string, MadeFile>> {
  const wav = await encodedFile('wav', pcm)
  const mp3 = await encodedFile('mp3', pcm)
  const flac = await encodedFile('flac', pcm)
  const opus = await encodedFile('opus', pcm)
  const aac = await encodedFile('aac', pcm)
  const vorbis = await vorbisFile(pcm)
  const files = new Map<string, MadeFile>()
  const add = (name: string, bytes: Uint8Array<ArrayBuffer>, container: string, codec: string, mimeType: string) =>
    files.set(name, { bytes, container, codec, mimeType })
  add('wav of unknown length', wav, 'wav', 'pcm-s16', 'audio/wav')
  for (const [codec, bytes] of Object.entries(wavFiles(pcm))) add(`wav ${codec}`, bytes, 'wav', codec, 'audio/wav')
  add('mp3', mp3, 'mp3', 'mp3', 'audio/mpeg')
  add('flac', flac, 'flac', 'flac', 'audio/flac')
  add('ogg opus', opus, 'ogg', 'opus', 'audio/ogg')
  add('ogg vorbis', vorbis, 'ogg', 'vorbis', 'audio/ogg')
  add('adts', aac, 'adts', 'aac', 'audio/aac')
  add('m4a', await remux(aac, new Mp4OutputFormat()), 'mp4', 'aac', 'audio/mp4')
  const fragmented = await remux(aac, new Mp4OutputFormat({ fastStart: 'fragmented' }))
  add('m4a in fragments', fragmented, 'mp4', 'aac', 'audio/mp4')
  add('mov aac', await remux(aac, new MovOutputFormat()), 'mov', 'aac', 'video/quicktime')
  add('mp4 opus', await remux(opus, new Mp4OutputFormat()), 'mp4', 'opus', 'audio/mp4')
  add('webm opus', await remux(opus, new WebMOutputFormat()), 'webm', 'opus', 'audio/webm')
  const streamed = await remux(opus, new WebMOutputFormat({ appendOnly: true }))
  add('webm opus, streamed', streamed, 'webm', 'opus', 'audio/webm')
  add('webm vorbis', await remux(vorbis, new WebMOutputFormat()), 'webm', 'vorbis', 'audio/webm')
  add('mkv flac', await remux(flac, new MkvOutputFormat()), 'mkv', 'flac', 'audio/x-matroska')
  add('mkv mp3', await remux(mp3, new MkvOutputFormat()), 'mkv', 'mp3', 'audio/x-matroska')
  add('mkv aac', await remux(aac, new MkvOutputFormat()), 'mkv', 'aac', 'audio/x-matroska')
  return files
}

async function vorbisFile(pcm: Int16Array, sampleRate = 24000): Promise<Uint8Array<ArrayBuffer>> {
  const encoder = await createOggEncoder()
  encoder.configure({ sampleRate, channels: 1, vbrQuality: 5 })
  return concatBytes([new Uint8Array(encoder.encode([fromS16(pcm)])), new Uint8Array(encoder.finalize())])
}

/** The same packets in another container. */
async function remux(bytes: Uint8Array<ArrayBuffer>, format: OutputFormat): Promise<Uint8Array<ArrayBuffer>> {
  const input = new Input({ source: new BufferSource(bytes), formats: [FLAC, OGG, MP3, ADTS] })
  const track = await input.getPrimaryAudioTrack()
  if (track?.codec == null) throw new Error('nothing to remux')
  const target = new BufferTarget()
  const output = new Output({ format, target })
  const source = new EncodedAudioPacketSource(track.codec)
  output.addAudioTrack(source)
  await output.start()
  const decoderConfig = await track.getDecoderConfig()
  if (decoderConfig === null) throw new Error('nothing to tell a muxer')
  for await (const packet of new EncodedPacketSink(track).packets()) await source.add(packet, { decoderConfig })
  await output.finalize()
  if (target.buffer === null) throw new Error('the muxer made nothing')
  return new Uint8Array(target.buffer)
}

/** Each kind of PCM that WAV may hold. */
function wavFiles(pcm: Int16Array): Record<string, Uint8Array<ArrayBuffer>> {
  const of = (tag: number, bits: number, write: (view: DataView, at: number, sample: number) => void) => {
    const data = new DataView(new ArrayBuffer((pcm.length * bits) / 8))
    for (let i = 0; i < pcm.length; i++) write(data, (i * bits) / 8, pcm[i]! / 32768)
    return wavFile({ tag, bits, data: new Uint8Array(data.buffer) })
  }
  return {
    'pcm-u8': of(1, 8, (view, at, sample) => view.setUint8(at, Math.round(sample * 127 + 128))),
    'pcm-s16': of(1, 16, (view, at, sample) => view.setInt16(at, sample * 32768, true)),
    'pcm-s24': of(1, 24, (view, at, sample) => {
      view.setInt16(at + 1, sample * 32768, true)
    }),
    'pcm-s32': of(1, 32, (view, at, sample) => view.setInt32(at, sample * 2 ** 31, true)),
    'pcm-f32': of(3, 32, (view, at, sample) => view.setFloat32(at, sample, true)),
    ulaw: of(7, 8, (view, at, sample) => view.setUint8(at, muLaw(sample))),
  }
}

interface WavParts {
  tag?: number
  bits?: number
  channels?: number
  rateHz?: number
  /** Values that replace the true ones. */
  declaredBytes?: number
  data: Uint8Array
}

export function wavFile({ tag = 1, bits = 16, channels = 1, rateHz = 24000, declaredBytes, data }: WavParts) {
  const header = Buffer.alloc(44)
  header.write('RIFF', 0)
  header.writeUInt32LE(Math.min(0xffffffff, (declaredBytes ?? data.length) + 36), 4)
  header.write('WAVEfmt ', 8)
  header.writeUInt32LE(16, 16)
  header.writeUInt16LE(tag, 20)
  header.writeUInt16LE(channels, 22)
  header.writeUInt32LE(rateHz, 24)
  header.writeUInt32LE(((rateHz * channels * bits) / 8) >>> 0, 28)
  header.writeUInt16LE(((channels * bits) / 8) & 0xffff, 32)
  header.writeUInt16LE(bits, 34)
  header.write('data', 36)
  header.writeUInt32LE(declaredBytes ?? data.length, 40)
  return concatBytes([header, data])
}

/** G.711: sign, three bits of exponent, four of mantissa, all inverted. */
function muLaw(sample: number): number {
  const magnitude = Math.min(32635, Math.abs(Math.round(sample * 32768))) + 132
  const exponent = Math.floor(Math.log2(magnitude)) - 7
  const mantissa = (magnitude >> (exponent + 3)) & 15
  return ~((sample < 0 ? 0x80 : 0) | (exponent << 4) | mantissa) & 0xff
}
