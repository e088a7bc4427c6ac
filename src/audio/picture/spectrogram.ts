/**
 * The lower half of a voice's picture as pixels: time across, mel bands upwards, loudness as colour. Every picture has
 * the same frequencies and as many decibels below its loudest moment: two voices can be compared by looking.
 */
import { hzToMel, MelMeter, melToHz } from '../mel.ts'
import { colourTable, type Theme } from './colour.ts'

export const minHz = 60
export const maxHz = 8000
const bands = 80
/** Long enough to part the harmonics of a low voice, short enough to keep its syllables apart. */
const frameMs = 40
const hopMs = 8
/** Beyond it a column of a long clip is a sample of its frames: the work is bounded by the picture's width. */
const framesPerColumnMax = 8
/** From the loudest to what is not drawn any more. */
const rangeDb = 56
/** What counts as loudest in a clip that is fainter than this, in dB of a full-scale sine: noise stays faint. */
const quietestPeakDb = -34
/** Voices lose about as much from octave to octave above this: evened out, their upper formants can be seen. */
const tiltDbPerOctave = 3
const tiltFromHz = 500
/** The frames that are measured before whatever else waits gets its turn: a few milliseconds of work. */
const framesAtOnce = 128

export interface Raster {
  /** Three bytes each, from the top left corner. */
  rgb: Buffer
  widthPx: number
  heightPx: number
}

export async function spectrogram(
  pcm: Int16Array,
  sampleRateHz: number,
  look: { theme: Theme; widthPx: number; heightPx: number },
): Promise<Raster> {
  return draw(await levels(pcm, sampleRateHz, look.widthPx), look)
}

/** Where a frequency lies, from 0 at the bottom to 1 at the top. */
export const heightOf = (hz: number): number => (hzToMel(hz) - hzToMel(minHz)) / (hzToMel(maxHz) - hzToMel(minHz))

/** For each column its bands from low to high, in dB of a full-scale sine. */
async function levels(pcm: Int16Array, sampleRateHz: number, columns: number): Promise<Float32Array> {
  const frameLength = Math.max(16, Math.round((sampleRateHz * frameMs) / 1000))
  const fftLength = 2 ** Math.ceil(Math.log2(frameLength))
  const meter = new MelMeter({ sampleRateHz, fftLength, bands, minHz, maxHz, norm: 'peak' }, frameLength)
  const samplesPerColumn = pcm.length / columns
  const wanted = Math.ceil(samplesPerColumn / ((sampleRateHz * hopMs) / 1000))
  const frames = Math.max(1, Math.min(framesPerColumnMax, wanted))
  // A full-scale sine has this much power in its bin under Hann's window, whose mean is a half.
  const fullScale = ((32768 * frameLength) / 4) ** 2
  const result = new Float32Array(columns * bands)
  const frame = new Float64Array(bands)
  const sum = new Float64Array(bands)
  for (let column = 0, measured = 0; column < columns; column++, measured += frames) {
    if (measured >= framesAtOnce) {
      await new Promise((resolve) => setImmediate(resolve))
      measured = 0
    }
    sum.fill(0)
    for (let part = 0; part < frames; part++) {
      const middle = (column + (part + 0.5) / frames) * samplesPerColumn
      // At the ends of the clip, frames are shifted to fit inside it, so that its beginning and end do not look like a
      // sound of their own.
      const start = Math.max(0, Math.min(pcm.length - frameLength, Math.round(middle - frameLength / 2)))
      meter.measure(pcm, start, frame)
      for (let band = 0; band < bands; band++) sum[band]! += frame[band]!
    }
    for (let band = 0; band < bands; band++) {
      result[column * bands + band] = 10 * Math.log10(sum[band]! / frames / fullScale + 1e-12)
    }
  }
  return result
}

/** @param levelsDb see `levels` */
function draw(
  levelsDb: Float32Array,
  { theme, widthPx, heightPx }: { theme: Theme; widthPx: number; heightPx: number },
): Raster {
  const evened = even(levelsDb)
  const floorDb =
    Math.max(
      quietestPeakDb,
      evened.reduce((most, level) => Math.max(most, level), -Infinity),
    ) - rangeDb
  const colours = colourTable(theme)
  const rgb = Buffer.alloc(3 * widthPx * heightPx)
  for (let y = 0; y < heightPx; y++) {
    // Rows fall between the middles of bands: the level between them is drawn, or the picture would be of bricks.
    const at = Math.max(0, Math.min(bands - 1, (1 - (y + 0.5) / heightPx) * (bands + 1) - 1))
    const band = Math.min(bands - 2, Math.floor(at))
    for (let x = 0; x < widthPx; x++) {
      const lower = evened[x * bands + band]!
      const levelDb = lower + (evened[x * bands + band + 1]! - lower) * (at - band)
      const step = Math.round(255 * Math.max(0, Math.min(1, (levelDb - floorDb) / rangeDb)))
      const pixel = 3 * (y * widthPx + x)
      rgb[pixel] = colours[3 * step]!
      rgb[pixel + 1] = colours[3 * step + 1]!
      rgb[pixel + 2] = colours[3 * step + 2]!
    }
  }
  return { rgb, widthPx, heightPx }
}

/** Lifts what lies above the tilt's corner; see `tiltDbPerOctave`. */
function even(levelsDb: Float32Array): Float32Array {
  const lift = Float64Array.from({ length: bands }, (_, band) => tiltDb(band))
  return levelsDb.map((level, at) => level + lift[at % bands]!)
}

function tiltDb(band: number): number {
  const share = (band + 1) / (bands + 1)
  const mel = hzToMel(minHz) + share * (hzToMel(maxHz) - hzToMel(minHz))
  return Math.max(0, tiltDbPerOctave * Math.log2(melToHz(mel) / tiltFromHz))
}
