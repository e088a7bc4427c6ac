/**
 * Events on their way to a client that may read slowly. A WebSocket takes what it is given, says when it has enough,
 * and drops what comes nevertheless: so nothing is given to it then until it has drained.
 */
export interface Wire {
  /** @returns bytes; -1: taken, and enough for now; 0: dropped */
  send(text: string): number
  close(code: number, reason: string): void
}

/** A client that does not read is disconnected once this much waits for it, in UTF-16 units. */
const waitingMax = 4_000_000

export class Outbox {
  readonly #wire: Wire
  readonly #waiting: string[] = []
  #waitingLength = 0
  #isFull = false
  #isClosed = false

  constructor(wire: Wire) {
    this.#wire = wire
  }

  send(text: string): void {
    if (this.#isClosed) return
    this.#waiting.push(text)
    this.#waitingLength += text.length
    if (!this.#isFull) this.#flush()
    if (this.#waitingLength > waitingMax) this.close(1008, 'The client does not read.')
  }

  /** The socket has room again. */
  drained(): void {
    this.#isFull = false
    this.#flush()
  }

  close(code: number, reason: string): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#wire.close(code, reason)
  }

  #flush(): void {
    for (let [next] = this.#waiting; next !== undefined && !this.#isFull; [next] = this.#waiting) {
      const taken = this.#wire.send(next)
      this.#isFull = taken <= 0
      if (taken === 0) return
      this.#waiting.shift()
      this.#waitingLength -= next.length
    }
  }
}
