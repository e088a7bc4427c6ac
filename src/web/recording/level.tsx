/** The level in decibels below full scale: up at once, down slowly enough to see. */
import { useEffect, useRef } from 'preact/hooks'

/** Lower end of the scale. */
const floorDb = -60
const fallDbPerS = 30

const amplitudeOf = (db: number): number => 10 ** (db / 20)

/** Below this there is no speech. */
export const silent = amplitudeOf(-54)
/** A voice below it drowns in the room. */
export const quiet = amplitudeOf(-30)
/** Full scale but for rounding: what is louder was cut off. */
export const tooLoud = 0.999

const dbOf = (amplitude: number): number => Math.max(floorDb, 20 * Math.log10(Math.max(amplitude, 1e-6)))

/** @param amplitude that was shown @param elapsedMs since then @returns what is shown of it now */
export const fallen = (amplitude: number, elapsedMs: number): number =>
  amplitude * amplitudeOf((-fallDbPerS * elapsedMs) / 1000)

/** @param level amplitude, 0 to 1 */
export function Level({ level, isOn }: { level: number; isOn: boolean }) {
  const bar = useRef<HTMLDivElement>(null)
  const db = Math.min(0, dbOf(level))
  useEffect(() => {
    // Through the style's own interface: the page's policy allows no style attributes.
    bar.current?.style.setProperty('transform', `scaleX(${1 - db / floorDb})`)
  }, [db])
  const words = isOn && db > floorDb ? `${Math.round(db)} dB` : 'silence'
  return (
    <div class="row level">
      <div
        class={level >= tooLoud ? 'meter loud' : 'meter'}
        role="meter"
        aria-label="Level"
        aria-valuemin={floorDb}
        aria-valuemax={0}
        aria-valuenow={Math.round(db)}
        aria-valuetext={words}
      >
        <div ref={bar} />
      </div>
      <span class="hint numbers" aria-hidden="true">
        {isOn ? `${Math.round(db)} dB` : ''}
      </span>
    </div>
  )
}
