/**
 * Events of the Wyoming protocol as bytes: a line of JSON that states how many bytes of JSON and of payload follow it.
 * Facts from the reference implementation (`wyoming` 1.10.2, event.py): `data` may be in the line, after it, or both,
 * and what is after it wins; the line must stay below 64 KiB, so ours never contains data.
 */
export interface WyomingEvent {
  type: string
  data: Readonly<Record<string, unknown>>
  payload: Uint8Array | null
}

/** The other side sent something that is not an event: where the next one begins is unknown. */
export class FramingError extends Error {}

const maxHeaderBytes = 64 * 1024
const maxDataBytes = 1024 * 1024
const maxPayloadBytes = 1024 * 1024
const newline = 0x0a

/** @param version of the program, which the protocol carries for people */
export function encodeEvent(
  version: string,
  type: string,
  data: object | null = null,
  payload: Uint8Array | null = null,
): Buffer {
  const body = data === null ? Buffer.alloc(0) : Buffer.from(JSON.stringify(data))
  const header = {
    type,
    version,
    ...(body.length > 0 && { data_length: body.length }),
    ...(payload !== null && payload.length > 0 && { payload_length: payload.length }),
  }
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), body, payload ?? Buffer.alloc(0)])
}

interface Header {
  type: string
  data: Record<string, unknown>
  dataBytes: number
  payloadBytes: number
}

/** Bytes in pieces of any size into whole events. */
export class EventReader {
  /** Bytes that came, with room for more: a piece must not move all that came before it. */
  #space = Buffer.alloc(0)
  #begin = 0
  #end = 0
  #header: Header | null = null
  /** How many of the held bytes are known to contain no line break. */
  #searched = 0

  get #heldBytes(): number {
    return this.#end - this.#begin
  }

  /** @returns the events that are whole now @throws FramingError */
  *push(bytes: Uint8Array): Generator<WyomingEvent> {
    this.#append(bytes)
    for (;;) {
      this.#header ??= this.#takeHeader()
      if (this.#header === null) return
      const { type, data, dataBytes, payloadBytes } = this.#header
      if (this.#heldBytes < dataBytes + payloadBytes) return
      const behind = dataBytes === 0 ? {} : objectOf(this.#take(dataBytes))
      // A copy: the room is used again.
      const payload = payloadBytes === 0 ? null : new Uint8Array(this.#take(payloadBytes))
      this.#header = null
      yield { type, data: { ...data, ...behind }, payload }
    }
  }

  #append(bytes: Uint8Array): void {
    if (this.#end + bytes.length > this.#space.length) {
      const larger = Buffer.alloc(2 * (this.#heldBytes + bytes.length))
      this.#space.copy(larger, 0, this.#begin, this.#end)
      this.#end = this.#heldBytes
      this.#begin = 0
      this.#space = larger
    }
    this.#space.set(bytes, this.#end)
    this.#end += bytes.length
  }

  /** The next bytes, where they are. */
  #take(count: number): Buffer {
    const taken = this.#space.subarray(this.#begin, this.#begin + count)
    this.#begin += count
    return taken
  }

  #takeHeader(): Header | null {
    const held = this.#space.subarray(this.#begin, this.#end)
    const length = held.indexOf(newline, this.#searched)
    if (length > maxHeaderBytes || (length < 0 && held.length > maxHeaderBytes)) {
      throw new FramingError(`a header of more than ${maxHeaderBytes} bytes`)
    }
    if (length < 0) {
      this.#searched = held.length
      return null
    }
    const header = objectOf(this.#take(length))
    this.#begin++
    this.#searched = 0
    const { type, data } = header
    if (typeof type !== 'string') throw new FramingError('an event without a type')
    return {
      type,
      data: isObject(data) ? data : {},
      dataBytes: lengthOf(header, 'data_length', maxDataBytes),
      payloadBytes: lengthOf(header, 'payload_length', maxPayloadBytes),
    }
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

function objectOf(bytes: Uint8Array): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch {
    throw new FramingError('an event that is not JSON')
  }
  if (isObject(value)) return value
  throw new FramingError('an event that is not a JSON object')
}

function lengthOf(header: Record<string, unknown>, name: string, max: number): number {
  const value = header[name] ?? 0
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max) return value
  throw new FramingError(`${name} must be a whole number of at most ${max} bytes`)
}
