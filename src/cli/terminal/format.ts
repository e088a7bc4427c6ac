/** Numbers and times as a person reads them. Scripts get them raw, with `--json`. */

/** At least cents, and as many places of a micro-dollar as are not zero. */
export function dollars(micros: number): string {
  const places = (Math.abs(micros) / 1_000_000).toFixed(6).replace(/0{1,4}$/, '')
  const [whole, part] = places.split('.')
  return `${micros < 0 ? '-' : ''}$${count(Number(whole))}.${part}`
}

export const count = (value: number): string => value.toLocaleString('en-US')

/** With its noun. */
export const counted = (value: number, one: string): string => `${count(value)} ${value === 1 ? one : `${one}s`}`

const byteUnits = ['bytes', 'kB', 'MB', 'GB', 'TB']

export function bytes(value: number): string {
  let unit = 0
  let rest = value
  for (; rest >= 999.5 && unit < byteUnits.length - 1; unit++) rest /= 1000
  return `${unit === 0 || rest >= 99.95 ? rest.toFixed(0) : rest.toFixed(1)} ${byteUnits[unit]}`
}

/** The two greatest units that say something: `3 d 4 h`, `1 min 5 s`, `0.4 s`. */
export function duration(ms: number): string {
  if (ms < 10_000) return `${(ms / 1000).toFixed(1)} s`
  const s = Math.round(ms / 1000)
  if (s < 60) return `${s} s`
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`
}

/** In UTC, as usage and expiries are. */
export const day = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 10)
export const time = (timeMs: number): string => new Date(timeMs).toISOString().slice(0, 16).replace('T', ' ')
