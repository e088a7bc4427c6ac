/**
 * The lines of a voice's picture as SVG: its panel and the waveform. It has no labels: a page that shows the picture
 * writes them itself, in its own font.
 */
import { hex, levelColour, type Theme } from './colour.ts'

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
}

const waveShare = 0.3

export function layoutOf(widthPx: number, heightPx: number): Layout {
  const short = Math.min(widthPx, heightPx)
  const padding = Math.max(2, Math.min(32, Math.round(short * 0.045)))
  const width = widthPx - 2 * padding
  const height = heightPx - 2 * padding
  const gap = Math.round(height * 0.04)
  const waveHeight = Math.max(1, Math.round(height * waveShare))
  return {
    widthPx,
    heightPx,
    radius: Math.round(padding * 0.6),
    wave: { left: padding, top: padding, width, height: waveHeight },
    spectrum: { left: padding, top: padding + waveHeight + gap, width, height: height - waveHeight - gap },
  }
}

/** @returns an SVG document of the layout's size */
export function lines(pcm: Int16Array, theme: Theme, layout: Layout): string {
  const { widthPx, heightPx, radius } = layout
  const dark = theme === 'dark'
  const border = `stroke="${dark ? '#fff' : '#000'}" stroke-opacity="${dark ? 0.14 : 0.12}"`
  const size = `width="${widthPx - 1}" height="${heightPx - 1}" rx="${radius}"`
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${widthPx}" height="${heightPx}">`,
    `<rect x=".5" y=".5" ${size} fill="${hex(levelColour(theme, 0))}" ${border}/>`,
    waveform(pcm, theme, layout.wave),
    '</svg>',
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
