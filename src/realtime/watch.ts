/** A session's audio at the detector: probabilities come back as it runs. An engine that fails is asked again. */
import { MynaError } from '../domain/error.ts'
import { SoundPipe } from '../service/live-sound.ts'
import type { RealtimeParts } from './parts.ts'

export interface WatchNews {
  /** Probabilities of the next windows. */
  heard(probabilities: Float32Array): void
  /** The engine failed; what it had is lost, and it continues with what comes next. */
  interrupted(): void
  /** It failed again at once. */
  failed(error: MynaError): void
}

/** Failures that follow each other faster are one that does not pass. */
const calmMs = 5000

export class Watch {
  readonly #parts: RealtimeParts
  readonly #news: WatchNews
  readonly #abort = new AbortController()
  #pipe = new SoundPipe()

  constructor(parts: RealtimeParts, news: WatchNews) {
    this.#parts = parts
    this.#news = news
    void this.#run()
  }

  /** Samples that the detector has not taken yet. */
  get heldSamples(): number {
    return this.#pipe.heldSamples
  }

  write(pcm: Int16Array): void {
    this.#pipe.write(pcm)
  }

  close(): void {
    this.#abort.abort(new Error('the session does not listen any more'))
    this.#pipe.end()
  }

  async #run(): Promise<void> {
    const { watcher, clock, report } = this.#parts
    const { signal } = this.#abort
    for (;;) {
      const beganMs = clock.monotonicMs()
      try {
        for await (const found of watcher.watchSpeech(this.#pipe, signal)) this.#news.heard(found)
        return
      } catch (error) {
        if (signal.aborted) return
        report('a realtime session lost its detector', error)
        this.#pipe.end()
        this.#pipe = new SoundPipe()
        const known = error instanceof MynaError ? error : new MynaError('engine_unavailable', 'The engine failed.')
        if (clock.monotonicMs() - beganMs < calmMs) return this.#news.failed(known)
        this.#news.interrupted()
      }
    }
  }
}
