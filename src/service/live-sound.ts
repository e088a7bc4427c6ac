/**
 * Audio that arrives while it is transcribed, from a microphone at the other end of a connection: written by the reader
 * of that connection, read by the engine, and bounded, so that a client that sends too fast cannot fill the memory.
 */
import { MynaError } from '../domain/error.ts'
import type { ClipStream } from './ports/transcription.ts'

/** Samples on their way from a connection to a reader. One reader. */
export class SoundPipe implements AsyncIterable<Int16Array> {
  readonly #blocks: Int16Array[] = []
  #held = 0
  #isOver = false
  #error: MynaError | null = null
  #wakeReader: () => void = () => {}
  #wakeWriter: () => void = () => {}

  /** Samples that were written and not read yet. */
  get heldSamples(): number {
    return this.#held
  }

  /** Ignored after the end. @param pcm mono, 16 kHz, in a buffer that is not written to any more */
  write(pcm: Int16Array): void {
    if (this.#isOver || pcm.length === 0) return
    this.#blocks.push(pcm)
    this.#held += pcm.length
    this.#wakeReader()
  }

  /** Resolves once at most this many samples wait, or the reader has gone. */
  async room(samples: number): Promise<void> {
    while (!this.#isOver && this.#held > samples) await new Promise<void>((resolve) => (this.#wakeWriter = resolve))
  }

  end(): void {
    this.#isOver = true
    this.#wakeReader()
  }

  /** The reader gets it after everything that came before. */
  fail(error: MynaError): void {
    this.#error ??= error
    this.end()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Int16Array> {
    try {
      for (;;) {
        const block = this.#blocks.shift()
        if (block !== undefined) {
          this.#held -= block.length
          this.#wakeWriter()
          yield block
        } else if (this.#error !== null) throw this.#error
        else if (this.#isOver) return
        else await new Promise<void>((resolve) => (this.#wakeReader = resolve))
      }
    } finally {
      this.#isOver = true
      this.#blocks.length = this.#held = 0
      this.#wakeWriter()
    }
  }
}

const sampleRateHz = 16_000

/** A sound that is here as a whole. */
export async function* oneBlock(pcm: Int16Array): AsyncGenerator<Int16Array> {
  yield pcm
}

/** As a clip of unknown length. @throws MynaError `audio_too_long`, from its iteration */
export const liveSound = (pcm: AsyncIterable<Int16Array>, maxSeconds: number): ClipStream => ({
  container: 'live',
  codec: 'pcm',
  durationMs: null,
  pcm: limited(pcm, maxSeconds),
  skippedMs: () => 0,
})

async function* limited(pcm: AsyncIterable<Int16Array>, maxSeconds: number): AsyncGenerator<Int16Array> {
  let samples = 0
  for await (const block of pcm) {
    samples += block.length
    if (samples > maxSeconds * sampleRateHz) {
      throw new MynaError('audio_too_long', `The audio is longer than ${maxSeconds} seconds.`, { param: 'audio' })
    }
    yield block
  }
}
