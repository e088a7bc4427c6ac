import { describe, expect, test } from 'bun:test'
import sharp from 'sharp'
import { Seeded } from '../../testing/seeded.ts'
import { layoutOf } from './lines.ts'
import { heightOf, spectrogram } from './spectrogram.ts'
import { type PictureOptions, voicePicture } from './picture.ts'

const small: PictureOptions = { theme: 'light', format: 'png', widthPx: 320, heightPx: 200 }
const themes = ['light', 'dark'] as const
const formats = ['png', 'webp'] as const

interface Pixels {
  data: Uint8Array
  width: number
  channels: number
}

async function pixels(file: Uint8Array): Promise<Pixels> {
  const { data, info } = await sharp(file).raw().toBuffer({ resolveWithObject: true })
  return { data, width: info.width, channels: info.channels }
}

const colourAt = ({ data, width, channels }: Pixels, x: number, y: number): number[] => [
  ...data.subarray((y * width + x) * channels, (y * width + x + 1) * channels),
]

/** The difference between two pixels, summed over the channels. */
const difference = (a: readonly number[], b: readonly number[]): number =>
  a.reduce((sum, part, at) => sum + Math.abs(part - (b[at] ?? 0)), 0)

const rateHz = 24_000
const chirpSeconds = 3
/** Evenly upwards from 200 Hz to 6200 Hz. */
const chirpHz = (seconds: number) => 200 + 2000 * seconds
const chirp = Int16Array.from({ length: chirpSeconds * rateHz }, (_, i) => {
  const seconds = i / rateHz
  return 12_000 * Math.sin(2 * Math.PI * (200 * seconds + 1000 * seconds ** 2))
})

describe.each(themes)('%s', (theme) => {
  test.each(formats)('%s decodes, and has its size and round, clear corners', async (format) => {
    const file = await voicePicture(chirp, rateHz, { ...small, theme, format })
    const { width, height, format: found, hasAlpha } = await sharp(file).metadata()
    expect([width, height, found, hasAlpha]).toEqual([320, 200, format, true])
    const picture = await pixels(file)
    for (const [x, y] of [
      [0, 0],
      [319, 0],
      [0, 199],
      [319, 199],
    ] as const) {
      expect(colourAt(picture, x, y)[3]).toBeLessThan(40)
    }
    expect(colourAt(picture, 160, 3)[3]).toBe(255)
  })

  test('the ridge of a rising tone is at the height of its frequency', async () => {
    const options = { ...small, theme, widthPx: 400, heightPx: 300 }
    const picture = await pixels(await voicePicture(chirp, rateHz, options))
    const { spectrum } = layoutOf(400, 300)
    const panel = colourAt(picture, 200, 4)
    for (let x = 20; x < spectrum.width - 20; x += 7) {
      const column = Array.from({ length: spectrum.height }, (_, y) =>
        difference(colourAt(picture, spectrum.left + x, spectrum.top + y), panel),
      )
      const found = column.indexOf(Math.max(...column)) + 0.5
      const hz = chirpHz(((x + 0.5) / spectrum.width) * chirpSeconds)
      const expected = spectrum.height * (1 - heightOf(hz))
      expect(Math.abs(found - expected), `column ${x}`).toBeLessThan(0.02 * spectrum.height)
      // Away from the ridge there is silence, in the panel's own colour.
      const far = Math.round(expected > spectrum.height / 2 ? 3 : spectrum.height - 4)
      expect(column[far]).toBeLessThan(6)
    }
  })

  test("the waveform's height shows the loudness of the sound", async () => {
    const swelling = chirp.map((sample, i) => (sample * i) / chirp.length)
    const picture = await pixels(await voicePicture(swelling, rateHz, { ...small, theme }))
    const { wave } = layoutOf(320, 200)
    const panel = colourAt(picture, 160, 3)
    const heights = [0.25, 0.5, 0.98].map((at) => {
      const x = wave.left + Math.floor(at * wave.width)
      const drawn = Array.from({ length: wave.height }, (_, y) => colourAt(picture, x, wave.top + y))
      return drawn.filter((colour) => difference(colour, panel) > 60).length / wave.height
    })
    expect(heights).toEqual([expect.closeTo(0.25, 1), expect.closeTo(0.5, 1), expect.closeTo(0.98, 1)])
  })
})

/** Pixels of the spectrogram that clearly differ from the panel's colour. */
async function drawnShare(pcm: Int16Array): Promise<number> {
  const picture = await pixels(await voicePicture(pcm, rateHz, small))
  const { spectrum } = layoutOf(320, 200)
  const panel = colourAt(picture, 160, 3)
  let drawn = 0
  for (let y = 0; y < spectrum.height; y++) {
    for (let x = 0; x < spectrum.width; x++) {
      if (difference(colourAt(picture, spectrum.left + x, spectrum.top + y), panel) > 30) drawn++
    }
  }
  return drawn / spectrum.width / spectrum.height
}

test('silence and the noise of a quiet converter give an empty panel; loud noise fills it', async () => {
  const random = new Seeded(5)
  const noise = (amplitude: number) =>
    Int16Array.from({ length: rateHz }, () => Math.round(amplitude * (2 * random.next() - 1)))
  expect(await drawnShare(new Int16Array(rateHz))).toBe(0)
  expect(await drawnShare(noise(1))).toBe(0)
  expect(await drawnShare(noise(10_000)), 'seed 5').toBeGreaterThan(0.95)
})

test.each([0, 1, 2, 100, 5000])('%d samples have a picture', async (length) => {
  for (const theme of themes) {
    const file = await voicePicture(chirp.slice(0, length), rateHz, { ...small, theme })
    expect((await sharp(file).metadata()).width).toBe(320)
  }
})

test('ten minutes of sound need only the work for the width, and other work runs meanwhile', async () => {
  const long = new Int16Array(600 * 48_000).fill(100)
  let turns = 0
  let done = false
  const turn = () => {
    turns++
    if (!done) setImmediate(turn)
  }
  setImmediate(turn)
  const raster = await spectrogram(long, 48_000, { theme: 'dark', widthPx: 200, heightPx: 100 })
  done = true
  expect(raster.rgb.length).toBe(3 * 200 * 100)
  // 8 frames for each of 200 columns, at most 128 frames at once.
  expect(turns).toBeGreaterThanOrEqual(12)
})

test('the same sound gives the same pixels', async () => {
  const look = { theme: 'dark', widthPx: 200, heightPx: 100 } as const
  const [first, second] = [await spectrogram(chirp, rateHz, look), await spectrogram(chirp, rateHz, look)]
  expect(first.rgb.equals(second.rgb)).toBe(true)
  const file = () => voicePicture(chirp, rateHz, small)
  expect(Buffer.from(await file()).equals(await file())).toBe(true)
})

test('a tone is drawn at the same height at every rate', async () => {
  const look = { theme: 'dark', widthPx: 64, heightPx: 300 } as const
  const tops = []
  for (const hz of [16_000, 24_000, 44_100, 48_000]) {
    const tone = Int16Array.from({ length: hz }, (_, i) => 9000 * Math.sin((2 * Math.PI * 1500 * i) / hz))
    const { rgb, widthPx, heightPx } = await spectrogram(tone, hz, look)
    const column = Array.from({ length: heightPx }, (_, y) => {
      const at = 3 * (y * widthPx + 32)
      return rgb[at]! + rgb[at + 1]! + rgb[at + 2]!
    })
    tops.push(column.indexOf(Math.max(...column)))
  }
  expect(Math.max(...tops) - Math.min(...tops)).toBeLessThanOrEqual(2)
})

test('the smallest picture is drawn, and a size out of range is refused', async () => {
  const thumb = await voicePicture(chirp, rateHz, { ...small, widthPx: 64, heightPx: 64 })
  expect((await sharp(thumb).metadata()).height).toBe(64)
  for (const size of [0, 63, 4097, 99.5, Number.NaN]) {
    const error = await voicePicture(chirp, rateHz, { ...small, widthPx: size }).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(RangeError)
  }
})
