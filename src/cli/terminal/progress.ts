/**
 * One line at a terminal that shows what is being done, how far it is and for how long; silent when the output is not a
 * terminal.
 */
import { systemClock } from '../../domain/time.ts'
import { duration } from './format.ts'

export interface ProgressLine {
  /** @param share 0 to 1, drawn as a bar; null: unknown */
  show(text: string, sinceMs: number, share?: number | null): void
  clear(): void
}

const erase = '\r\u001b[2K'
const barCells = 24
const redrawMs = 200

/** @param stream standard error, except in tests */
export function progressLine(stream: Pick<NodeJS.WriteStream, 'isTTY' | 'write'> = process.stderr): ProgressLine {
  let ticking: Timer | undefined
  let draw = (): void => {}
  return {
    show(text, sinceMs, share = null) {
      if (stream.isTTY !== true) return
      draw = () => {
        const took = duration(systemClock.monotonicMs() - sinceMs)
        stream.write(`${erase}${share === null ? `${text} ... ` : `${text} ${bar(share)} `}${took}`)
      }
      // Progress may come a thousand times a second.
      if (ticking === undefined) {
        draw()
        ticking = setInterval(() => draw(), redrawMs)
      }
    },
    clear() {
      if (ticking === undefined) return
      clearInterval(ticking)
      ticking = undefined
      stream.write(erase)
    },
  }
}

/** `[=======>        ]  45 %` */
export function bar(share: number): string {
  const within = Math.min(1, Math.max(0, share))
  const cells = Math.floor(within * barCells)
  const drawn = cells === barCells ? '='.repeat(cells) : `${'='.repeat(cells)}>`.padEnd(barCells)
  return `[${drawn}] ${String(Math.floor(within * 100)).padStart(3)} %`
}
