/**
 * The picture of a voice: the waveform of a clip above its mel spectrogram. Pixels and lines are our own; `sharp` puts
 * them together and writes the file. It is native code and loaded with the first picture, for most runs draw none.
 */
import type { Theme } from './colour.ts'
import { layoutOf, lines } from './lines.ts'
import { spectrogram } from './spectrogram.ts'

export interface PictureOptions {
  theme: Theme
  format: 'png' | 'webp'
  /** From 64 to 4096, as is the height. */
  widthPx: number
  heightPx: number
}

const smallestPx = 64
const largestPx = 4096

/**
 * A panel with round corners on a transparent ground, for pages of any colour. Gives way to other work as it goes.
 * @param pcm mono; silence, one sample or none have a picture too
 * @throws RangeError for a size out of range
 */
export async function voicePicture(
  pcm: Int16Array,
  sampleRateHz: number,
  options: PictureOptions,
): Promise<Uint8Array> {
  const { theme, format, widthPx, heightPx } = options
  for (const size of [widthPx, heightPx]) {
    if (!Number.isSafeInteger(size) || size < smallestPx || size > largestPx) {
      throw new RangeError(`a picture is ${smallestPx} to ${largestPx} pixels wide and high, not ${size}`)
    }
  }
  const { default: sharp } = await import('sharp')
  const layout = layoutOf(widthPx, heightPx)
  const { spectrum } = layout
  const raster = await spectrogram(pcm, sampleRateHz, { theme, widthPx: spectrum.width, heightPx: spectrum.height })
  const picture = sharp(Buffer.from(lines(pcm, theme, layout))).composite([
    {
      input: raster.rgb,
      raw: { width: raster.widthPx, height: raster.heightPx, channels: 3 },
      left: spectrum.left,
      top: spectrum.top,
    },
  ])
  const file = format === 'png' ? picture.png() : picture.webp({ quality: 88, effort: 4 })
  return new Uint8Array(await file.toBuffer())
}
