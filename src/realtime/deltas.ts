/**
 * Turns changing guesses into text that only grows: clients append what they receive and can take nothing back. A word
 * is sent once two guesses in a row agree on it and on all words before it (Macháček et al., "Turning Whisper into
 * Real-Time Transcription System", 2023, call it local agreement).
 */
export class TranscriptDeltas {
  #sent: string[] = []
  #last: string[] = []

  /** @returns what may be sent now; '' for nothing */
  guess(text: string): string {
    const words = wordsOf(text)
    const agreed = agreement(this.#last, words)
    this.#last = words
    return this.#send(words.slice(0, agreed))
  }

  /** @param text as it will stay so far @returns what of it was not sent; '' also where what was sent differs */
  settle(text: string): string {
    return this.#send(wordsOf(text))
  }

  #send(words: readonly string[]): string {
    if (words.length <= this.#sent.length || agreement(this.#sent, words) < this.#sent.length) return ''
    const fresh = words.slice(this.#sent.length)
    const lead = this.#sent.length === 0 ? '' : ' '
    this.#sent = [...words]
    return lead + fresh.join(' ')
  }
}

const wordsOf = (text: string): string[] => text.split(/\s+/).filter((word) => word !== '')

/** The number of leading words that agree; marks and capitals do not count. */
function agreement(one: readonly string[], other: readonly string[]): number {
  const plain = (word: string | undefined) => word?.toLowerCase().replace(/[^\p{L}\p{N}]/gu, '')
  let count = 0
  while (count < Math.min(one.length, other.length) && plain(one[count]) === plain(other[count])) count++
  return count
}
