/**
 * Decodes what the encoders made, for tests: mediabunny takes the container apart and a decoder turns the packets into
 * samples (mpg123, the FLAC, Opus and FFmpeg decoders). Only tests import it, so its libraries are development
 * dependencies.
 */
import { FLACDecoder } from '@wasm-audio-decoders/flac'
import { getAudioDecoder } from 'audio-file-decoder'
import { createDecoder } from 'libopus-wasm'
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny'
import { MPEGDecoder } from 'mpg123-decoder'
import type { AudioFormat } from '../domain/speech.ts'
import { concatBytes, concatFloats, fromS16, s16FromBytes } from './pcm.ts'
import { readWav } from './wav.ts'

export interface Decoded {
  sampleRateHz: number
  /** With the encoder's delay and padding where the format does not say how to trim them. */
  samples: Float32Array
}

/** @throws Error when the bytes are not of that format, hold an error or are not mono */
export async function readBack(format: AudioFormat, bytes: Uint8Array): Promise<Decoded> {
  switch (format) {
    case 'pcm':
      return { sampleRateHz: 24000, samples: fromS16(s16FromBytes(bytes)) }
    case 'wav': {
      const wav = readWav(bytes)
      return { sampleRateHz: wav.sampleRateHz, samples: fromS16(wav.pcm) }
    }
    case 'mp3':
      return readMp3(bytes)
    case 'opus':
      return readOpus(bytes)
    case 'flac':
      return readFlac(bytes)
    case 'aac':
      return readAac(bytes)
  }
}

/**
 * What the container holds, as mediabunny sees it. @throws Error when the codec is another or there are two channels
 */
async function packetsOf(bytes: Uint8Array, codec: string) {
  const input = new Input({ source: new BufferSource(new Uint8Array(bytes)), formats: ALL_FORMATS })
  const track = await input.getPrimaryAudioTrack()
  if (track?.codec !== codec || track.numberOfChannels !== 1) throw new Error(`no mono ${codec}`)
  const packets: Uint8Array[] = []
  for await (const packet of new EncodedPacketSink(track).packets()) packets.push(packet.data)
  const description = (await track.getDecoderConfig())?.description
  return { packets, sampleRateHz: track.sampleRate, description }
}

async function readMp3(bytes: Uint8Array): Promise<Decoded> {
  const { packets, sampleRateHz } = await packetsOf(bytes, 'mp3')
  const decoder = new MPEGDecoder({ enableGapless: false })
  await decoder.ready
  const parts = packets.map((packet) => {
    const { channelData, errors } = decoder.decodeFrame(packet)
    if (errors.length > 0) throw new Error(`mp3: ${errors[0]!.message}`)
    return channelData[0]!.slice()
  })
  decoder.free()
  return { sampleRateHz, samples: concatFloats(parts) }
}

async function readFlac(bytes: Uint8Array): Promise<Decoded> {
  const { packets, sampleRateHz } = await packetsOf(bytes, 'flac')
  const decoder = new FLACDecoder()
  await decoder.ready
  const { channelData, errors } = await decoder.decodeFrames(packets)
  if (errors.length > 0) throw new Error(`flac: ${errors[0]!.message}`)
  const samples = (channelData[0] ?? new Float32Array(0)).slice()
  decoder.free()
  return { sampleRateHz, samples }
}

/** Trims by pre-skip and by the granule position of the last page, as RFC 7845 says. */
async function readOpus(bytes: Uint8Array): Promise<Decoded> {
  const { packets, description } = await packetsOf(bytes, 'opus')
  if (!(description instanceof Uint8Array)) throw new Error('no OpusHead')
  const preSkip = new DataView(description.buffer, description.byteOffset).getUint16(10, true)
  const decoder = await createDecoder({ channels: 1, sampleRate: 48000 })
  const samples = concatFloats(packets.map((packet) => decoder.decodeFloat(packet)))
  decoder.free()
  const lastPage = Buffer.from(bytes).lastIndexOf('OggS')
  const end = Number(new DataView(bytes.buffer, bytes.byteOffset).getBigInt64(lastPage + 6, true))
  return { sampleRateHz: 48000, samples: samples.slice(preSkip, end) }
}

/** The decoder gives nothing for the first frame of a file (a player does), so it is handed that one twice. */
async function readAac(bytes: Uint8Array): Promise<Decoded> {
  await packetsOf(bytes, 'aac')
  const firstFrame = ((bytes[3]! & 3) << 11) | (bytes[4]! << 3) | (bytes[5]! >> 5)
  const wasm = Bun.file(new URL('../../node_modules/audio-file-decoder/decode-audio.wasm', import.meta.url))
  const url = `data:application/wasm;base64,${Buffer.from(await wasm.arrayBuffer()).toString('base64')}`
  const decoder = await getAudioDecoder(url, concatBytes([bytes.subarray(0, firstFrame), bytes]).buffer)
  const samples = decoder.decodeAudioData(0, -1, { multiChannel: false }).slice()
  const decoded = { sampleRateHz: decoder.sampleRate, samples }
  decoder.dispose()
  return decoded
}

/**
 * A voice-like test signal: a gliding buzz with formants that open and close, some breath, never silent. 16-bit mono.
 */
export function buzz(seconds: number, sampleRateHz: number, seed = 1): Int16Array<ArrayBuffer> {
  const pcm = new Int16Array(Math.round(seconds * sampleRateHz))
  let noise = seed
  let phase = seed
  for (let i = 0; i < pcm.length; i++) {
    const time = i / sampleRateHz
    phase += (2 * Math.PI * (140 + 50 * Math.sin(2.1 * time + seed))) / sampleRateHz
    // Minimal standard generator of Park and Miller, 1988.
    noise = (noise * 48271) % 2147483647
    const voice = Math.sin(phase) + 0.6 * Math.sin(3 * phase) + 0.4 * Math.sin(7 * phase) * Math.sin(9 * time)
    const breath = 0.1 * (noise / 2147483647 - 0.5)
    pcm[i] = Math.round(9000 * (0.55 + 0.45 * Math.sin(14 * time)) * (voice + breath))
  }
  return pcm
}

export interface Likeness {
  /** By how many samples the copy is late. */
  delay: number
  /** Of the overlap; 1 is equal but for the level. */
  correlation: number
  /** Level of the copy over that of the original. */
  gainDb: number
}

/** Finds the delay, up to `maxDelay` samples, at which the copy is most like the original. Both at the same rate. */
export function compare(original: Float32Array, copy: Float32Array, maxDelay: number): Likeness {
  let best: Likeness = { delay: 0, correlation: -1, gainDb: 0 }
  for (let delay = 0; delay <= maxDelay; delay++) {
    const length = Math.min(original.length, copy.length - delay)
    if (length < original.length / 2) break
    let cross = 0
    let energy = 0
    let copyEnergy = 0
    for (let i = 0; i < length; i++) {
      cross += original[i]! * copy[delay + i]!
      energy += original[i]! ** 2
      copyEnergy += copy[delay + i]! ** 2
    }
    const correlation = cross / Math.sqrt(energy * copyEnergy)
    if (correlation > best.correlation) best = { delay, correlation, gainDb: 10 * Math.log10(copyEnergy / energy) }
  }
  return best
}
