/**
 * Knows what the studio is doing, whichever page is open: the reading that runs, and what was spoken before. Pages
 * look at it and change it; it belongs to one signed-in account at a time.
 */
import { useEffect, useState } from 'preact/hooks'
import { announce } from '../parts/announce.tsx'
import { deck, type Track } from '../player/deck.ts'
import { forgetTake, forgetTakes, keepTake, type Take, takesOf } from './history.ts'
import { peaksOf, peaksPerSecond } from './peaks.ts'
import { type Reading, Reader } from './reading.ts'
import type { SpeechAsk } from './speech.ts'

class Studio extends EventTarget {
  /** The last one; null: none since the page was opened. */
  reading: Reading | null = null
  /** The newest first; null: not read yet. */
  takes: readonly Take[] | null = null
  #accountId = ''
  #reader: Reader | null = null

  /** Another account's history is another one. */
  open(accountId: string): void {
    if (this.#accountId === accountId) return
    this.#accountId = accountId
    this.takes = null
    void this.#reload()
  }

  /** At signing out everything ends. */
  leave(): void {
    void this.#reader?.cancel()
    deck.close()
    this.#accountId = ''
    this.reading = null
    this.takes = null
  }

  get isSpeaking(): boolean {
    return this.reading?.state === 'speaking'
  }

  /** @param voiceName as the history calls it @param maxChars of a request */
  speak(ask: SpeechAsk, voiceName: string, maxChars: number): void {
    if (this.isSpeaking) return
    const id = crypto.randomUUID()
    const reader = new Reader(ask, maxChars, (reading) => {
      this.reading = reading
      deck.grow(id, { seconds: reading.peaks.length / peaksPerSecond, peaks: reading.peaks })
      this.#tell()
    })
    this.#reader = reader
    this.reading = reader.reading
    const title = titleOf(ask.input)
    const fileName = `${fileNameOf(ask.input)}.${ask.format}`
    deck.follow({ id, title, detail: voiceName, peaks: [], seconds: 0, file: null, fileName }, reader.playback)
    void reader.heard.then(() => deck.land(id))
    void reader.whole.then((reading) => this.#keep(id, reading, voiceName))
    this.#tell()
  }

  /** Harmless when nothing runs. */
  cancel(): void {
    void this.#reader?.cancel()
  }

  async forget(id: string): Promise<void> {
    deck.close(id)
    await forgetTake(id)
    await this.#reload()
  }

  async forgetAll(): Promise<void> {
    deck.close()
    await forgetTakes(this.#accountId)
    await this.#reload()
  }

  async #keep(id: string, reading: Reading, voiceName: string): Promise<void> {
    const { ask, file, state } = reading
    if (file === null) {
      deck.close(id)
      return
    }
    const peaks = reading.peaks.length > 0 ? reading.peaks : await peaksOf(file)
    const isWhole = state === 'completed'
    const heardS = peaks.length / peaksPerSecond
    await this.add({
      id,
      accountId: this.#accountId,
      createdAtMs: Date.now(),
      text: ask.input,
      voiceId: ask.voice,
      voiceName,
      model: ask.model,
      speed: ask.speed,
      format: ask.format,
      isWhole,
      seconds: isWhole && reading.seconds > 0 ? reading.seconds : Math.max(heardS, reading.seconds),
      peaks: [...peaks],
      file,
    })
  }

  /** To the history, and to the player if that has it already. */
  async add(take: Take): Promise<void> {
    deck.grow(take.id, trackOf(take))
    await keepTake(take).catch((error: Error) => announce(`It could not be kept in the history: ${error.message}`))
    await this.#reload()
  }

  async #reload(): Promise<void> {
    const accountId = this.#accountId
    const takes = await takesOf(accountId).catch((): Take[] => [])
    if (accountId !== this.#accountId) return
    this.takes = takes
    this.#tell()
  }

  #tell(): void {
    this.dispatchEvent(new Event('change'))
  }
}

export const studio = new Studio()

/** Renders again whenever something changes there. */
export function useStudio(accountId: string): Studio {
  const [, setTurn] = useState(0)
  useEffect(() => {
    const turn = () => setTurn((before) => before + 1)
    studio.addEventListener('change', turn)
    studio.open(accountId)
    return () => studio.removeEventListener('change', turn)
  }, [accountId])
  return studio
}

const titleChars = 80
const titleOf = (text: string): string => text.trim().replaceAll(/\s+/g, ' ').slice(0, titleChars)

/** The first words, as a file may be called anywhere. */
function fileNameOf(text: string): string {
  const words = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  return words.slice(0, 6).join('-').slice(0, 60) || 'speech'
}

export const trackOf = (take: Take): Track => ({
  id: take.id,
  title: titleOf(take.text),
  detail: take.voiceName,
  peaks: take.peaks,
  seconds: take.seconds,
  file: take.file,
  fileName: `${fileNameOf(take.text)}${take.isWhole ? '' : '-incomplete'}.${take.format}`,
})
