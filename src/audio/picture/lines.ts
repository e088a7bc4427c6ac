/**
 * The lines of a voice's picture as SVG: its panel, the waveform, the axes. There is no text element in it: a machine
 * without fonts would draw none, and one with fonts would draw another one.
 */
import { hex, levelColour, oklch, type Theme } from './colour.ts'
import { textPaths, textWidth } from './digits.ts'
import { heightOf } from './spectrogram.ts'

export interface Box {
  left: number
  top: number
  width: number
  height: number
}

export interface Layout {
  widthPx: number
  heightPx: number
  /** Of the rounded corners. */
  radius: number
  wave: Box
  spectrum: Box
  /** Of the labels; 0: the picture is too small for any. */
  textPx: number
}

/** Below either there is no room for axes, and the picture is a thumbnail. */
const labelledWidthPx = 240
const labelledHeightPx = 150
const waveShare = 0.3

export function layoutOf(widthPx: number, heightPx: number): Layout {
  const labelled = widthPx >= labelledWidthPx && heightPx >= labelledHeightPx
  const short = Math.min(widthPx, heightPx)
  const padding = Math.max(2, Math.min(32, Math.round(short * 0.045)))
  const textPx = labelled ? Math.max(7, Math.min(14, Math.round(short * 0.024))) : 0
  const left = padding + (labelled ? Math.ceil(textWidth('500', textPx) + textPx) : 0)
  const width = widthPx - left - padding
  const height = heightPx - 2 * padding - (labelled ? Math.round(1.9 * textPx) : 0)
  const gap = Math.round(height * 0.04)
  const waveHeight = Math.max(1, Math.round(height * waveShare))
  return {
    widthPx,
    heightPx,
    radius: Math.round(padding * 0.6),
    wave: { left, top: padding, width, height: waveHeight },
    spectrum: { left, top: padding + waveHeight + gap, width, height: height - waveHeight - gap },
    textPx,
  }
}

/** @returns an SVG document of the layout's size */
export function lines(pcm: Int16Array, sampleRateHz: number, theme: Theme, layout: Layout): string {
  const { widthPx, heightPx, radius } = layout
  const dark = theme === 'dark'
  const border = `stroke="${dark ? '#fff' : '#000'}" stroke-opacity="${dark ? 0.14 : 0.12}"`
  const size = `width="${widthPx - 1}" height="${heightPx - 1}" rx="${radius}"`
  const axes = layout.textPx === 0 ? '' : timeAxis(pcm.length / sampleRateHz, layout) + frequencyAxis(layout)
  const axisColour = hex(oklch(dark ? 0.68 : 0.5, 0.02, 270))
  const strokePx = Math.max(1, layout.textPx * 0.12).toFixed(2)
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${widthPx}" height="${heightPx}">`,
    `<rect x=".5" y=".5" ${size} fill="${hex(levelColour(theme, 0))}" ${border}/>`,
    waveform(pcm, theme, layout.wave),
    `<g fill="none" stroke="${axisColour}" stroke-width="${strokePx}" stroke-linecap="round" stroke-linejoin="round">`,
    axes,
    '</g></svg>',
  ].join('')
}

/** Every column's extremes, and its RMS level within them. */
function waveform(pcm: Int16Array, theme: Theme, box: Box): string {
  const columns = envelope(pcm, box.width)
  const peak = columns.reduce((most, { high, low }) => Math.max(most, high, -low), 0)
  // What is fainter than -36 dB of full scale is left faint.
  const scale = (box.height / 2 - 0.5) / Math.max(peak, 32768 / 64)
  const middle = box.top + box.height / 2
  const band = (up: (column: Column) => number, down: (column: Column) => number) => {
    const point = (x: number, value: number, edge: number) =>
      `${(box.left + x + 0.5).toFixed(1)} ${(middle - value * scale + edge).toFixed(2)}`
    const upper = columns.map((column, x) => point(x, up(column), -0.5))
    const lower = columns.map((column, x) => point(x, down(column), 0.5)).reverse()
    return `M${[...upper, ...lower].join('L')}z`
  }
  const dark = theme === 'dark'
  const outer = band(
    ({ high }) => high,
    ({ low }) => low,
  )
  const inner = band(
    ({ rms, high }) => Math.min(rms, Math.max(0, high)),
    ({ rms, low }) => Math.max(-rms, Math.min(0, low)),
  )
  return [
    `<path d="${outer}" fill="${hex(levelColour(theme, dark ? 0.5 : 0.42))}"/>`,
    `<path d="${inner}" fill="${hex(levelColour(theme, dark ? 0.86 : 0.74))}"/>`,
  ].join('')
}

interface Column {
  high: number
  low: number
  rms: number
}

function envelope(pcm: Int16Array, columns: number): Column[] {
  return Array.from({ length: columns }, (_, x) => {
    const start = Math.floor((x * pcm.length) / columns)
    const end = Math.min(pcm.length, Math.max(start + 1, Math.floor(((x + 1) * pcm.length) / columns)))
    if (end <= start) return { high: 0, low: 0, rms: 0 }
    let [high, low, energy] = [-Infinity, Infinity, 0]
    for (let i = start; i < end; i++) {
      const sample = pcm[i]!
      high = Math.max(high, sample)
      low = Math.min(low, sample)
      energy += sample * sample
    }
    return { high, low, rms: Math.sqrt(energy / (end - start)) }
  })
}

function timeAxis(seconds: number, { widthPx, spectrum, textPx }: Layout): string {
  if (seconds === 0) return ''
  const labelsMax = Math.max(1, spectrum.width / (7 * textPx))
  const { step, parts } = timeStep(seconds / labelsMax)
  const bottom = spectrum.top + spectrum.height + 2
  const places = Math.max(0, Math.ceil(-Math.log10(step) - 1e-9))
  let drawn = ''
  for (let tick = 0; (tick * step) / parts <= seconds * (1 + 1e-9); tick++) {
    const x = spectrum.left + (((tick * step) / parts) * spectrum.width) / seconds
    const isMajor = tick % parts === 0
    drawn += `<path d="M${x.toFixed(2)} ${bottom}v${(textPx * (isMajor ? 0.5 : 0.28)).toFixed(2)}"/>`
    if (!isMajor) continue
    const label = `${((tick / parts) * step).toFixed(places)}s`
    const width = textWidth(label, textPx)
    drawn += textPaths(label, Math.min(widthPx - width - textPx, x - width / 2), bottom + 0.9 * textPx, textPx)
  }
  return drawn
}

/** The least of 1, 2 and 5 by a power of ten, from a millisecond on, that is no shorter; and how many parts it has. */
function timeStep(leastSeconds: number): { step: number; parts: number } {
  const power = 10 ** Math.max(-3, Math.floor(Math.log10(leastSeconds) + 1e-9))
  for (const [factor, parts] of [
    [1, 5],
    [2, 4],
    [5, 5],
  ] as const) {
    if (factor * power >= leastSeconds * (1 - 1e-9)) return { step: factor * power, parts }
  }
  return { step: 10 * power, parts: 5 }
}

const labelledHz = { 8000: '8k', 4000: '4k', 2000: '2k', 1000: '1k', 500: '500' }

function frequencyAxis({ spectrum, textPx }: Layout): string {
  return Object.entries(labelledHz)
    .map(([hz, label]) => {
      const y = spectrum.top + spectrum.height * (1 - heightOf(Number(hz)))
      const tick = spectrum.left - 2 - 0.4 * textPx
      const text = textPaths(label, tick - 0.4 * textPx - textWidth(label, textPx), y - textPx / 2, textPx)
      return `<path d="M${tick.toFixed(2)} ${y.toFixed(2)}h${(0.4 * textPx).toFixed(2)}"/>${text}`
    })
    .join('')
}
