/** Everything that an engine listens to (server side): what it transcribes, and where it only watches for speech. */
import type { MynaError } from '../domain/error.ts'
import type { TranscriptPart } from '../service/ports/transcription.ts'
import type { Debt } from './deadlines.ts'
import { Listenings, type ListeningsOptions } from './listenings.ts'
import type { FromEngine } from './protocol.ts'

export class Sounds {
  readonly transcripts: Listenings<TranscriptPart>
  readonly watches: Listenings<Float32Array>

  /** @param options ids of streams must differ between the two */
  constructor(options: ListeningsOptions) {
    this.transcripts = new Listenings(options)
    this.watches = new Listenings(options)
  }

  get open(): readonly Debt[] {
    return [...this.transcripts.open, ...this.watches.open]
  }

  receive(message: Extract<FromEngine, { type: 'want' | 'heard' | 'voiced' }>): void {
    const { stream } = message
    if (message.type === 'heard') return this.transcripts.heard(stream, message.part)
    if (message.type === 'voiced') return this.watches.heard(stream, message.probabilities)
    this.transcripts.want(stream, message.samples)
    this.watches.want(stream, message.samples)
  }

  finish(id: number, error: MynaError | null): void {
    this.transcripts.finish(id, error)
    this.watches.finish(id, error)
  }

  failAll(): void {
    this.transcripts.failAll()
    this.watches.failAll()
  }
}
