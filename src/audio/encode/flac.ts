/**
 * FLAC by libFLAC, through the WebAssembly build inside @mediabunny/flac-encoder. The stream cannot be rewound, so
 * STREAMINFO says 0 samples (unknown) and has no MD5.
 */
import imported from '../../../node_modules/@mediabunny/flac-encoder/dist/modules/build/flac.js'
import { type Codec, UnsupportedRate } from './codec.ts'
import { buildFactory, bytesAt, type WasmBuild } from './emscripten.ts'
import { concatBytes } from '../pcm.ts'

/** The used parts of the build's bridge.c. A context is an address; 0 means none. */
interface FlacBuild extends WasmBuild {
  _init_encoder(channels: number, sampleRateHz: number, bits: number): number
  _get_header_data(context: number): number
  _get_header_size(context: number): number
  _get_encode_input_ptr(context: number, bytes: number): number
  _send_samples(context: number, samples: number): number
  _finish_encoder(context: number): number
  _get_output_data(context: number): number
  _get_frame_count(context: number): number
  _get_frame_size(context: number, frame: number): number
}

const ratesHz = [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000]
const bits = 16

/**
 * The bridge cannot free a context, and one that was finished must not be used again: it comes back as 44.1 kHz stereo,
 * whatever it was. About 200 KB stay behind each stream, so after as many streams as fit into the 16 MB that an
 * instance begins with the next ones get a new instance, and the old one goes with the last of its streams.
 */
const streamsPerBuild = 40
const createBuild = buildFactory<FlacBuild>(imported)
let current: Promise<FlacBuild> | null = null
let opened = 0

function build(): Promise<FlacBuild> {
  if (current === null || opened === streamsPerBuild) {
    current = createBuild()
    opened = 0
  }
  opened++
  return current
}

/** @throws UnsupportedRate */
export async function flacCodec(sampleRateHz: number): Promise<Codec> {
  if (!ratesHz.includes(sampleRateHz)) throw new UnsupportedRate('flac', sampleRateHz, ratesHz)
  const flac = await build()
  const context = flac._init_encoder(1, sampleRateHz, bits)
  if (context === 0) throw new Error('libFLAC did not open an encoder')
  let header: Uint8Array | null = bytesAt(flac, flac._get_header_data(context), flac._get_header_size(context))

  const take = (): Uint8Array<ArrayBuffer> => {
    let size = 0
    for (let frame = flac._get_frame_count(context) - 1; frame >= 0; frame--) {
      size += flac._get_frame_size(context, frame)
    }
    const frames = bytesAt(flac, flac._get_output_data(context), size)
    if (header === null) return frames
    const start = concatBytes([header, frames])
    header = null
    return start
  }

  return {
    encode(pcm) {
      const input = flac._get_encode_input_ptr(context, pcm.length * 4)
      const samples = new Int32Array(flac.HEAPU8.buffer, input, pcm.length)
      // The bridge takes samples in the upper bits of 32.
      for (let i = 0; i < pcm.length; i++) samples[i] = pcm[i]! << (32 - bits)
      if (flac._send_samples(context, pcm.length) < 0) throw new Error('libFLAC failed')
      return take()
    },
    finish() {
      if (flac._finish_encoder(context) < 0) throw new Error('libFLAC failed')
      return take()
    },
    close() {},
  }
}
