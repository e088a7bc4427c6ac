/** Shared by tests of transcription: an order to the test listener, and a clip that records how it was read. */
import type { TranscriptionOrder, TranscriptPart } from '../service/ports/transcription.ts'
import { clipRateHz } from './speech-clips.ts'

export const transcriptionTask = 'automatic-speech-recognition'

/** @param prompt the test listener's script */
export const order = (prompt: string, changes: Partial<TranscriptionOrder> = {}): TranscriptionOrder => ({
  model: 'test-listener',
  share: 'account',
  task: 'transcribe',
  language: null,
  prompt,
  temperature: 0,
  words: false,
  ...changes,
})

/** A clip as a decoder delivers it, and a record of how it was read. */
export class Clip implements AsyncIterable<Int16Array> {
  /** In samples. */
  read = 0
  hasEnded = false
  readonly #blocks: () => AsyncIterable<Int16Array> | Iterable<Int16Array>

  constructor(blocks: () => AsyncIterable<Int16Array> | Iterable<Int16Array>) {
    this.#blocks = blocks
  }

  static of(pcm: Int16Array, blockSamples = clipRateHz): Clip {
    return new Clip(function* () {
      for (let at = 0; at < pcm.length; at += blockSamples) yield pcm.subarray(at, at + blockSamples)
    })
  }

  /** Repeats the same samples. */
  static endless(pcm: Int16Array): Clip {
    return new Clip(function* () {
      while (true) yield pcm
    })
  }

  [Symbol.asyncIterator](): AsyncIterator<Int16Array> {
    const blocks = this.#blocks()
    const iterator = Symbol.asyncIterator in blocks ? blocks[Symbol.asyncIterator]() : blocks[Symbol.iterator]()
    const note = (result: IteratorResult<Int16Array>) => {
      if (result.done) this.hasEnded = true
      else this.read += result.value.length
      return result
    }
    return {
      next: async () => note(await iterator.next()),
      return: async () => {
        this.hasEnded = true
        void iterator.return?.()
        return { done: true, value: undefined }
      },
    }
  }
}

export const textOf = (parts: readonly TranscriptPart[]): string =>
  parts.flatMap(({ segments }) => segments.map(({ text }) => text)).join('')
