/** Numbers and times as people read them. */

/** @param micros millionths of a dollar */
export const dollars = (micros: number): string =>
  `$${(micros / 1e6).toLocaleString('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 6 })}`

export const count = (value: number): string => value.toLocaleString('en-US')

export const bytes = (value: number): string => {
  if (value >= 1e9) return `${(value / 1e9).toFixed(1)} GB`
  return value >= 1e6 ? `${Math.round(value / 1e6)} MB` : `${Math.ceil(value / 1e3)} kB`
}

/** `1:02:03`, `2:03`; with tenths where `fine`. */
export function clock(seconds: number, fine = false): string {
  const whole = Math.floor(seconds)
  const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const tenths = fine ? `.${Math.floor((seconds - whole) * 10)}` : ''
  const two = (value: number) => String(value).padStart(2, '0')
  return h > 0 ? `${h}:${two(m)}:${two(s)}${tenths}` : `${m}:${two(s)}${tenths}`
}

/** The two largest units: `4.2 s`, `3 min 20 s`, `5 h 12 min`, `3 d 4 h`. */
export function duration(seconds: number): string {
  if (seconds === 0) return '0 s'
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  const [d, h, min] = [Math.floor(whole / 86_400), Math.floor(whole / 3600) % 24, Math.floor(whole / 60) % 60]
  if (d > 0) return `${d} d ${h} h`
  return h > 0 ? `${h} h ${min} min` : `${min} min ${whole % 60} s`
}

/** `1 stream`, `2 streams`. */
export const counted = (value: number, what: string): string => `${count(value)} ${what}${value === 1 ? '' : 's'}`

/** @param unix seconds */
export const moment = (unix: number): string =>
  new Date(unix * 1000).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })

/** @param unix seconds @param nowMs of this machine */
export function ago(unix: number, nowMs: number): string {
  const seconds = Math.max(0, nowMs / 1000 - unix)
  if (seconds < 60) return 'just now'
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`
  return seconds < 86_400 ? `${Math.floor(seconds / 3600)} h ago` : moment(unix)
}
