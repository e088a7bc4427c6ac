/**
 * The colours of a voice's picture. A colour map is a path through OKLCh (B. Ottosson, "A perceptual color space for
 * image processing", 2020), where equal steps of lightness look equal: the louder, the further from the background's
 * own lightness, without a step back, so that the picture also reads in grey and for people who see few colours. The
 * hue turns on the way, which tells levels of a like lightness apart.
 */
export type Theme = 'light' | 'dark'

/** Three bytes, sRGB. */
export type Rgb = readonly [red: number, green: number, blue: number]

interface Stop {
  /** 0 is silence, 1 the loudest. */
  level: number
  /** 0 is black, 1 is white. */
  lightness: number
  chroma: number
  hueDegrees: number
}

/** Night: from the panel's blue black through violet and a warm red to pale gold. */
const night: readonly Stop[] = [
  { level: 0, lightness: 0.19, chroma: 0.022, hueDegrees: 275 },
  { level: 0.3, lightness: 0.35, chroma: 0.13, hueDegrees: 290 },
  { level: 0.6, lightness: 0.57, chroma: 0.19, hueDegrees: 358 },
  { level: 0.85, lightness: 0.78, chroma: 0.155, hueDegrees: 415 },
  { level: 1, lightness: 0.95, chroma: 0.09, hueDegrees: 458 },
]

/** Ink on warm paper: from the panel's white through amber and a warm red to a plum black, the hues of the night. */
const ink: readonly Stop[] = [
  { level: 0, lightness: 0.985, chroma: 0.006, hueDegrees: 80 },
  { level: 0.3, lightness: 0.86, chroma: 0.1, hueDegrees: 75 },
  { level: 0.6, lightness: 0.66, chroma: 0.18, hueDegrees: 45 },
  { level: 0.85, lightness: 0.43, chroma: 0.17, hueDegrees: 5 },
  { level: 1, lightness: 0.22, chroma: 0.1, hueDegrees: -35 },
]

const stopsOf: Readonly<Record<Theme, readonly Stop[]>> = { dark: night, light: ink }

/** @param level 0 (silence, the colour of the panel) to 1 (the loudest) */
export function levelColour(theme: Theme, level: number): Rgb {
  const stops = stopsOf[theme]
  const at = Math.max(0, Math.min(1, level))
  const upper = Math.max(
    1,
    stops.findIndex((stop) => stop.level >= at),
  )
  const [from, to] = [stops[upper - 1]!, stops[upper]!]
  const share = (at - from.level) / (to.level - from.level)
  const between = (a: number, b: number) => a + (b - a) * share
  return oklch(
    between(from.lightness, to.lightness),
    between(from.chroma, to.chroma),
    between(from.hueDegrees, to.hueDegrees),
  )
}

/** 256 steps of the map, three bytes each: a pixel's colour is looked up. */
export function colourTable(theme: Theme): Uint8Array {
  const table = new Uint8Array(256 * 3)
  for (let step = 0; step < 256; step++) table.set(levelColour(theme, step / 255), step * 3)
  return table
}

export const hex = (colour: Rgb): string => `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`

/** The nearest colour that sRGB has: where it cannot show so much chroma, less of it, at the same lightness and hue. */
export function oklch(lightness: number, chroma: number, hueDegrees: number): Rgb {
  const angle = (hueDegrees * Math.PI) / 180
  let shown = isShown(toLinear(lightness, chroma, angle)) ? chroma : 0
  for (let most = chroma, step = 0; shown < chroma && step < 12; step++) {
    const middle = (shown + most) / 2
    if (isShown(toLinear(lightness, middle, angle))) shown = middle
    else most = middle
  }
  const [red, green, blue] = toLinear(lightness, shown, angle)
  return [encode(red), encode(green), encode(blue)]
}

type Linear = readonly [number, number, number]

/** OKLCh to linear sRGB, with the matrices of the paper. */
function toLinear(lightness: number, chroma: number, angle: number): Linear {
  const a = chroma * Math.cos(angle)
  const b = chroma * Math.sin(angle)
  const long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const medium = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const short = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ]
}

const isShown = (linear: Linear): boolean => linear.every((part) => part >= -0.0005 && part <= 1.0005)

/** sRGB's transfer function (IEC 61966-2-1), to a byte. */
function encode(linear: number): number {
  const part = Math.max(0, Math.min(1, linear))
  return Math.round(255 * (part <= 0.0031308 ? 12.92 * part : 1.055 * part ** (1 / 2.4) - 0.055))
}
