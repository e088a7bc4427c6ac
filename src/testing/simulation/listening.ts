/**
 * Transcription in the simulated process: the real service, clips that are decoded in the same turn, and an engine that
 * holds every part until it is released; and a client, with its requests and the answers.
 */
import { Queue } from '../../service/queue.ts'
import { type TranscribeParts, type TranscriptionRequest, Transcriptions } from '../../service/transcribe.ts'
import type { Transcribing } from '../../service/transcribing.ts'
import type { StreamDecoder, TranscriptPart } from '../../service/ports/transcription.ts'
import { FakeTranscriber } from '../fake-transcriber.ts'
import { Watched } from './client.ts'
import { Gate } from './gate.ts'
import { type Clip, type FollowedListening, partMs } from './listening-model.ts'
import type { Settings } from './facts.ts'

export interface ListeningServices {
  transcriptions: Transcriptions
  queue: Queue
  /** By request. */
  gates: ReadonlyMap<string, Gate>
}

/** @param clipOf the clip of each request, which has its id as the prompt and as the path of its upload */
export function listeningServices(
  parts: Omit<TranscribeParts, 'queue' | 'engine' | 'decoder'>,
  settings: Settings,
  clipOf: (id: string) => Clip,
): ListeningServices {
  const gates = new Map<string, Gate>()
  const engine = new FakeTranscriber()
  engine.plan = ({ prompt }) => {
    const gate = new Gate()
    gates.set(prompt ?? '', gate)
    return { partMs, failAt: clipOf(prompt ?? '').failAt, before: (part) => gate.pass(part) }
  }
  const decoder: StreamDecoder = {
    async open(id) {
      const pcm = clipOfSilence(clipOf(id).parts)
      return { container: 'wav', codec: 'pcm', durationMs: null, pcm, skippedMs: () => 0 }
    },
  }
  const queue = new Queue(settings.listenStreams, settings.listenWaiting, parts.timer)
  const limits = { ...settings, concurrency: settings.listenConcurrency, maxSeconds: 60 }
  return { transcriptions: new Transcriptions({ ...parts, queue, engine, decoder }, limits), queue, gates }
}

async function* clipOfSilence(parts: number): AsyncGenerator<Int16Array> {
  for (let part = 0; part < parts; part++) yield new Int16Array(16 * partMs)
}

export const requestFor = (id: string): TranscriptionRequest => ({
  model: null,
  language: null,
  task: 'transcribe',
  wordTimes: false,
  prompt: id,
  temperature: 0,
  words: false,
  upload: { path: id, remove: () => {} },
})

export class Listener {
  readonly #gone: AbortController
  readonly begun: Watched<Transcribing>
  followed: FollowedListening | null = null
  #reading: Watched<TranscriptPart | null> | null = null
  done = false

  constructor(begun: Promise<Transcribing>, gone: AbortController) {
    this.begun = new Watched(begun)
    this.#gone = gone
  }

  get mayRead(): boolean {
    return !this.done && this.begun.state === 'value' && this.#reading === null && !this.#gone.signal.aborted
  }

  get isPresent(): boolean {
    return !this.done && this.followed !== null && !this.#gone.signal.aborted
  }

  read(): void {
    const transcribing = this.begun.value
    if (transcribing === undefined) throw new Error('nothing was begun')
    this.#reading = new Watched(transcribing.next())
  }

  leave(): void {
    this.#gone.abort()
    this.begun.value?.clientGone()
  }

  /** Takes what arrived, and compares it with what was due. */
  faults(): string[] {
    if (this.followed === null || this.done) return []
    const faults = [...this.#answerFaults(this.followed), ...this.#readingFaults(this.followed)]
    return faults.map((fault) => `the listener of ${this.followed?.id}: ${fault}`)
  }

  #answerFaults(followed: FollowedListening): string[] {
    const { state, code } = this.begun
    if (followed.heard > 0) return state === 'value' ? [] : [`a part was heard, and the answer is ${code}`]
    if (followed.ending === null) return state === 'pending' ? [] : [`nothing was heard yet, and the answer is ${code}`]
    this.done = true
    return refusalFaults(this.begun, followed)
  }

  #readingFaults(followed: FollowedListening): string[] {
    const reading = this.#reading
    if (reading === null) return []
    const { ending, heard, calls } = followed
    if (reading.state === 'pending') {
      if (ending !== null) return ['it ended, and the reader still waits']
      return calls > heard ? [] : ['a part was heard, and the reader still waits']
    }
    this.#reading = null
    if (reading.state === 'error') {
      this.done = true
      return refusalFaults(reading, followed)
    }
    if (reading.value == null) {
      this.done = true
      return ending?.outcome === 'completed' ? [] : [`it got the end of what ended ${ending?.outcome}`]
    }
    const { heardMs } = reading.value
    return calls <= heard && heardMs === calls * partMs ? [] : [`part ${calls} of ${heard} ends at ${heardMs}`]
  }
}

function refusalFaults({ state, code }: Watched<unknown>, { ending, clientLeft }: FollowedListening): string[] {
  if (state !== 'error') return [`it ended, and the answer is ${state}`]
  if (ending === null) return [`it was told ${code} of what runs`]
  // A client that counts as disconnected and still asks again gets the reason.
  const due = ending.code === 'client_disconnected' ? 'request_timeout' : ending.code
  return clientLeft || code === due ? [] : [`it was told ${code}, not ${due}`]
}
