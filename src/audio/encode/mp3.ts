/**
 * MP3 by LAME: constant bit rate, no ID3 tag and no Xing or Info frame, because clients concatenate replies and such a
 * frame would state a wrong length for the whole. Without it, decoders do not trim the encoder's delay.
 */
import { createEncoder } from 'wasm-media-encoders'
import lamePath from 'wasm-media-encoders/wasm/mp3' with { type: 'file' }
import { type Codec, UnsupportedRate } from './codec.ts'
import { concatBytes, fromS16 } from '../pcm.ts'

type Lame = Awaited<ReturnType<typeof newLame>>

const ratesHz = [8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000] as const
const kbps = 96
/** The most that MPEG 2.5 allows. */
const lowRateKbps = 64

/**
 * Each encoder has a WebAssembly memory of its own, which the collector gives back late: so they are kept. More than
 * this many at once is a burst whose memory should go again.
 */
const maxIdle = 16
const idle: Lame[] = []

/**
 * Compiled once per thread, because the code that the runtime generates for one stream serves the others too: an
 * encoder that compiles its own takes twice as long, and 1 MB more for as long as it lives.
 */
let program: Promise<WebAssembly.Module> | null = null

/** @throws UnsupportedRate */
export async function mp3Codec(sampleRateHz: number): Promise<Codec> {
  const rateHz = ratesHz.find((rate) => rate === sampleRateHz)
  if (rateHz === undefined) throw new UnsupportedRate('mp3', sampleRateHz, ratesHz)
  const lame = idle.pop() ?? (await newLame())
  // Configuring frees whatever state an earlier stream left.
  lame.configure({
    sampleRate: rateHz,
    outputSampleRate: rateHz,
    channels: 1,
    bitrate: rateHz < 16000 ? lowRateKbps : kbps,
  })
  let open = true
  const close = () => {
    if (open && idle.length < maxIdle) idle.push(lame)
    open = false
  }
  return {
    // The encoder hands out a view of its memory that the next call overwrites.
    encode: (pcm) => concatBytes([lame.encode([fromS16(pcm)])]),
    finish() {
      const rest = concatBytes([lame.finalize()])
      close()
      return rest
    },
    close,
  }
}

async function newLame() {
  program ??= Bun.file(lamePath).arrayBuffer().then(WebAssembly.compile)
  return createEncoder('audio/mpeg', await program)
}
