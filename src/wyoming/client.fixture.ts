/** A client of the Wyoming protocol, written from its description and not from our server. */
import { connect, type Socket } from 'node:net'

export interface Received {
  type: string
  data: Record<string, unknown>
  payload: Buffer
}

export class WyomingClient {
  readonly socket: Socket
  readonly events: Received[] = []
  #held = Buffer.alloc(0)
  #wake: () => void = () => {}
  isClosed = false

  private constructor(socket: Socket) {
    this.socket = socket
    socket.on('data', (bytes: Buffer) => {
      this.#held = Buffer.concat([this.#held, bytes])
      this.#parse()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      this.isClosed = true
      this.#wake()
    })
  }

  static async connect(port: number | undefined): Promise<WyomingClient> {
    if (port === undefined) throw new Error('the server does not speak Wyoming')
    const socket = connect({ host: '127.0.0.1', port })
    await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    return new WyomingClient(socket)
  }

  [Symbol.dispose](): void {
    this.socket.destroy()
  }

  /** Like the reference client: data after the header. */
  send(type: string, data?: object, payload?: Uint8Array): void {
    this.socket.write(frame(type, data, payload))
  }

  /** Sound in the form that Home Assistant sends. */
  sendSound(pcm: Int16Array, { rate = 16_000, channels = 1, chunkBytes = 3200 } = {}): void {
    const format = { rate, width: 2, channels }
    const bytes = new Uint8Array(pcm.buffer)
    this.send('audio-start', { ...format, timestamp: null })
    for (let at = 0; at < bytes.length; at += chunkBytes) {
      this.send('audio-chunk', { ...format, timestamp: null }, bytes.subarray(at, at + chunkBytes))
    }
    this.send('audio-stop', { timestamp: null })
  }

  /** The events up to and including the first of this type. */
  async until(type: string): Promise<Received[]> {
    for (;;) {
      const at = this.events.findIndex((event) => event.type === type)
      if (at >= 0) return this.events.splice(0, at + 1)
      if (this.isClosed) throw new Error(`closed before ${type}; came: ${this.events.map((e) => e.type).join(' ')}`)
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  async closed(): Promise<void> {
    while (!this.isClosed) await new Promise<void>((resolve) => (this.#wake = resolve))
  }

  #parse(): void {
    for (;;) {
      const end = this.#held.indexOf('\n')
      if (end < 0) return this.#wake()
      const header = JSON.parse(this.#held.subarray(0, end).toString()) as {
        type: string
        data?: Record<string, unknown>
        data_length?: number
        payload_length?: number
      }
      const dataEnd = end + 1 + (header.data_length ?? 0)
      const payloadEnd = dataEnd + (header.payload_length ?? 0)
      if (this.#held.length < payloadEnd) return this.#wake()
      const behind = header.data_length ? JSON.parse(this.#held.subarray(end + 1, dataEnd).toString()) : {}
      const payload = Buffer.from(this.#held.subarray(dataEnd, payloadEnd))
      this.#held = this.#held.subarray(payloadEnd)
      this.events.push({ type: header.type, data: { ...header.data, ...behind }, payload })
    }
  }
}

export function frame(type: string, data?: object, payload?: Uint8Array): Buffer {
  const body = data === undefined ? Buffer.alloc(0) : Buffer.from(JSON.stringify(data))
  const lengths = {
    ...(body.length > 0 && { data_length: body.length }),
    ...(payload !== undefined && { payload_length: payload.length }),
  }
  const header = Buffer.from(`${JSON.stringify({ type, version: '1.10.2', ...lengths })}\n`)
  return Buffer.concat([header, body, payload ?? Buffer.alloc(0)])
}

export const typesOf = (events: readonly Received[]): string[] => events.map(({ type }) => type)
export const audioOf = (events: readonly Received[]): Buffer =>
  Buffer.concat(events.filter(({ type }) => type === 'audio-chunk').map(({ payload }) => payload))
