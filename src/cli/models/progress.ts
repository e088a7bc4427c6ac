/**
 * The progress of a pull: at a terminal one line that is redrawn (how much, how fast, how long), plain lines otherwise,
 * and one line of JSON per event for scripts.
 */
import type { InstallEvent, OnEvent } from '../../catalog/install/events.ts'
import type { Card } from '../../domain/card.ts'
import { type Clock, systemClock } from '../../domain/time.ts'
import { bytes, count, duration } from '../terminal/format.ts'
import { type Standing, Tally } from '../../catalog/install/progress.ts'
import { dim, note, snakeCase, terminalColumns } from '../terminal/terminal.ts'

/** What the display needs to know about the download. */
export type Licensed = Pick<Card, 'license'>

export interface Display {
  onEvent: OnEvent
  /** After this, nothing more is reported. */
  end(): void
}

/** The output of a display. */
export interface Screen {
  /** A line with its line break, or what moves the cursor. */
  write(text: string): void
  columns(): number
}

/** A person cannot read faster, and a log need not grow faster. */
const drawMs = 100
const lineMs = 5000
const jsonMs = 500
const clearLine = '\r\u001b[K'

/** Chooses the form: scripts get JSON on stdout, people get lines on stderr. */
export function displayFor(card: Licensed, json: boolean): Display {
  if (json) return jsonDisplay(card, (line) => process.stdout.write(line), systemClock)
  const screen = { write: (text: string) => process.stderr.write(text), columns: terminalColumns }
  if (process.stderr.isTTY === true) return terminalDisplay(card, screen, systemClock)
  return lineDisplay(card, (line) => note(line), systemClock)
}

export function terminalDisplay(card: Licensed, { write, columns }: Screen, clock: Clock): Display {
  const tally = new Tally(clock)
  let drawnAtMs = Number.NEGATIVE_INFINITY
  let line = ''
  const draw = (text: string) => {
    line = text === '' ? '' : clearLine + fitted(text, columns() - 1)
    drawnAtMs = clock.monotonicMs()
    write(line === '' ? clearLine : line)
  }
  return {
    onEvent: (event) => {
      tally.take(event)
      // Four files that try again would push the line away: the last of them is in it, by its reason.
      if (event.event === 'retrying') return draw(retryText(event))
      for (const told of wordsOf(event, card)) write(`${clearLine}${told}\n${line}`)
      const standing = tally.standing()
      if (event.event === 'checking' || event.event === 'unpacking') {
        return draw(`${event.event} ${event.name} (${bytes(event.sizeBytes)})`)
      }
      const isDue = event.event !== 'received' || clock.monotonicMs() - drawnAtMs >= drawMs
      if (standing !== null && isDue) draw(standingText(standing))
    },
    end: () => {
      if (line !== '') draw('')
    },
  }
}

/** @param write takes a line without its line break */
export function lineDisplay(card: Licensed, write: (line: string) => void, clock: Clock): Display {
  const tally = new Tally(clock)
  let writtenAtMs = clock.monotonicMs()
  return {
    onEvent: (event) => {
      tally.take(event)
      for (const told of wordsOf(event, card)) write(told)
      if (event.event === 'finished') write(`  ${event.name}, ${bytes(event.sizeBytes)}`)
      const standing = tally.standing()
      if (event.event !== 'received' || standing === null || clock.monotonicMs() - writtenAtMs < lineMs) return
      writtenAtMs = clock.monotonicMs()
      write(`  ${standingText(standing)}`)
    },
    end: () => {},
  }
}

/** Arriving bytes are reported together from time to time, as `progress`. @param write takes a line with its break */
export function jsonDisplay(card: Licensed, write: (line: string) => void, clock: Clock): Display {
  const tally = new Tally(clock)
  let writtenAtMs = clock.monotonicMs()
  const tell = (event: object) => write(`${JSON.stringify(snakeCase(event))}\n`)
  return {
    onEvent: (event) => {
      tally.take(event)
      if (event.event !== 'received')
        return tell(event.event === 'planned' ? { ...event, license: card.license } : event)
      if (clock.monotonicMs() - writtenAtMs < jsonMs) return
      writtenAtMs = clock.monotonicMs()
      tell({ event: 'progress', ...tally.standing() })
    },
    end: () => {},
  }
}

/** Lines that stay. */
function wordsOf(event: InstallEvent, card: Licensed): string[] {
  switch (event.event) {
    case 'waiting':
      return ['Another command is changing the models of this data folder: waiting for it to end.']
    case 'damaged':
      return [`${event.name} is damaged; downloading it again.`]
    case 'planned':
      return event.files === 0 ? [] : [...licenceWords(card), planText(event)]
    case 'retrying':
      return [`${event.name}: ${retryText(event)}`]
    case 'restarted':
      return [`${event.name}: ${bytes(event.lostBytes)} cannot be used, because ${event.reason}.`]
    default:
      return []
  }
}

const retryText = ({ reason, pauseMs }: InstallEvent & { event: 'retrying' }): string =>
  `${reason}. Trying again in ${duration(pauseMs)}.`

const licenceWords = ({ license: { name, attribution, limits } }: Licensed): string[] => [
  `License ${name}: ${attribution}`,
  ...(limits === null ? [] : [`Terms of use: ${limits}`]),
]

function planText(plan: InstallEvent & { event: 'planned' }): string {
  const { files, keptFiles, totalBytes, heldBytes, unknownSizes } = plan
  const what = `${count(files)} ${files === 1 ? 'file' : 'files'}`
  const size = unknownSizes === files ? 'of unknown size' : `${bytes(totalBytes)}${unknownSizes > 0 ? ' and more' : ''}`
  const held = heldBytes === 0 ? '' : `; ${bytes(heldBytes)} of it downloaded earlier`
  const kept = keptFiles === 0 ? '' : `; ${count(keptFiles)} more exist already`
  return `${what}, ${size}${held}${kept}`
}

/** `45%  74 MB of 165 MB  12.3 MB/s  8 s left  3 of 7 files`. */
export function standingText({ bytesPerSecond, msLeft, ...standing }: Standing): string {
  const { files, doneFiles, doneBytes, totalBytes, isMore } = standing
  const share =
    totalBytes === 0 || isMore ? [] : [`${Math.floor((100 * Math.min(doneBytes, totalBytes)) / totalBytes)}%`]
  return [
    ...share,
    isMore || totalBytes === 0 ? bytes(doneBytes) : `${bytes(doneBytes)} of ${bytes(totalBytes)}`,
    ...(bytesPerSecond === null ? [] : [`${bytes(bytesPerSecond)}/s`]),
    ...(msLeft === null ? [] : [`${duration(msLeft)} left`]),
    dim(`${count(doneFiles)} of ${count(files)} files`),
  ].join('  ')
}

/** A line that is wider than the terminal could not be drawn over. */
const fitted = (text: string, columns: number): string =>
  Bun.stringWidth(text) <= columns ? text : Bun.stripANSI(text).slice(0, Math.max(0, columns))
