/** A realtime client for tests: Bun's WebSocket, which can send headers, and the events that arrived. */
export interface RealtimeEvent {
  type: string
  [field: string]: unknown
}

export interface ConnectOptions {
  query?: string
  key?: string
  protocols?: string[]
}

export class RealtimeClient {
  readonly socket: WebSocket
  readonly events: RealtimeEvent[] = []
  closing: { code: number; reason: string } | null = null
  #wake: () => void = () => {}

  private constructor(socket: WebSocket) {
    this.socket = socket
    socket.onmessage = ({ data }) => {
      this.events.push(JSON.parse(String(data)) as RealtimeEvent)
      this.#wake()
    }
    socket.onclose = ({ code, reason }) => {
      this.closing = { code, reason }
      this.#wake()
    }
  }

  /** @param url of the server, without `/v1` @throws Error when the server refuses */
  static async connect(url: string, { query = '?intent=transcription', key, protocols }: ConnectOptions = {}) {
    const address = `${url.replace(/^http/, 'ws')}/v1/realtime${query}`
    const headers = key === undefined ? {} : { Authorization: `Bearer ${key}` }
    const socket = new WebSocket(address, { headers, ...(protocols !== undefined && { protocols }) } as never)
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve()
      socket.onclose = ({ code, reason }) => reject(new Error(`refused: ${code} ${reason}`))
    })
    return new RealtimeClient(socket)
  }

  [Symbol.dispose](): void {
    this.socket.close()
  }

  send(event: RealtimeEvent): void {
    this.socket.send(JSON.stringify(event))
  }

  update(input: object): void {
    this.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } })
  }

  append(pcm: Int16Array, blockBytes = 4800): void {
    const bytes = Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength)
    for (let at = 0; at < bytes.length; at += blockBytes) {
      this.send({ type: 'input_audio_buffer.append', audio: bytes.subarray(at, at + blockBytes).toString('base64') })
    }
  }

  /** The events up to and including the first whose type has this ending. */
  async until(ending: string): Promise<RealtimeEvent[]> {
    for (;;) {
      const at = this.events.findIndex(({ type }) => type.endsWith(ending))
      if (at >= 0) return this.events.splice(0, at + 1)
      if (this.closing !== null) {
        const came = this.events.map(({ type }) => type).join(' ')
        throw new Error(`closed (${this.closing.code} ${this.closing.reason}) before ${ending}; came: ${came}`)
      }
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async closed(): Promise<{ code: number; reason: string }> {
    while (this.closing === null) await new Promise<void>((resolve) => (this.#wake = resolve))
    return this.closing
  }
}

export const typesOf = (events: readonly RealtimeEvent[]): string[] => events.map(({ type }) => type)

/** At 24 kHz: a tone of this many seconds, or silence. */
export const tone = (seconds: number, rateHz = 24_000): Int16Array =>
  Int16Array.from({ length: Math.round(seconds * rateHz) }, (_, i) => 9000 * Math.sin(i / 20))
export const silence = (seconds: number, rateHz = 24_000): Int16Array => new Int16Array(Math.round(seconds * rateHz))
