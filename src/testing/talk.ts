/** A conversation with an engine child, message by message, for tests of the child itself. */
import { Child } from '../engine/child.ts'
import type { FromEngine, ToEngine } from '../engine/protocol.ts'
import { systemTimers } from '../engine/timers.ts'
import type { SpeechOrder } from '../service/ports.ts'

type Kind = FromEngine['type']
type Message<K extends Kind> = Extract<FromEngine, { type: K }>

export const order = (text: string, changes: Partial<SpeechOrder> = {}): SpeechOrder => ({
  model: 'test',
  share: 'account',
  voiceId: 'test-voice',
  text,
  voiceState: null,
  speed: 1,
  sampleRateHz: 24_000,
  language: null,
  instructions: null,
  seed: null,
  ...changes,
})

export class Talk {
  readonly child: Child
  readonly received: FromEngine[] = []
  readonly lines: string[] = []
  #watchers: (() => void)[] = []
  #queries = 0

  constructor(command: readonly string[]) {
    this.child = new Child({
      command,
      env: {},
      timers: systemTimers,
      onLine: (line) => this.lines.push(line),
      onMessage: (message) => {
        this.received.push(message)
        for (const watcher of this.#watchers) watcher()
      },
    })
    void this.child.ended.then(() => {
      for (const watcher of this.#watchers) watcher()
    })
  }

  send(message: ToEngine): void {
    if (!this.child.send(message)) throw new Error('the child is gone')
  }

  speak(stream: number, text: string, credits: number, changes: Partial<SpeechOrder> = {}): void {
    this.send({ type: 'speak', stream, order: order(text, changes), credits })
  }

  all<K extends Kind>(type: K, stream?: number): Message<K>[] {
    return this.received.filter(
      (message): message is Message<K> =>
        message.type === type && (stream === undefined || ('stream' in message && message.stream === stream)),
    )
  }

  /** Waits until this many messages of the kind have arrived. */
  async until<K extends Kind>(type: K, count = 1, stream?: number): Promise<Message<K>[]> {
    while (this.all(type, stream).length < count) {
      const next = Promise.withResolvers<'message'>()
      const watcher = () => next.resolve('message')
      this.#watchers.push(watcher)
      const won = await Promise.race([next.promise, this.child.ended])
      this.#watchers = this.#watchers.filter((other) => other !== watcher)
      if (won === 'message' || this.all(type, stream).length >= count) continue
      throw new Error(`the child ended while ${type} was waited for: ${JSON.stringify(won)}`)
    }
    return this.all(type, stream)
  }

  /** Messages are answered in order: when this answer arrives, everything the child sent before has arrived too. */
  async status(): Promise<Message<'status'>> {
    const query = ++this.#queries
    this.send({ type: 'status', query })
    const answers = await this.until('status', query)
    const answer = answers.find((message) => message.query === query)
    if (answer === undefined) throw new Error('the status was not answered')
    return answer
  }
}
