/** The connections of one box: opened on demand, up to a limit, lent in the order of requests. */
import { ConnectionLost, Wire, type WireOptions } from './wire.ts'

export class WirePool {
  readonly options: WireOptions
  readonly #limit: number
  readonly #idle: Wire[] = []
  readonly #waiting: (() => void)[] = []
  readonly #wires = new Set<Wire>()
  /** Lent, or being opened. */
  #busy = 0
  #isClosed = false

  constructor(options: WireOptions, limit: number) {
    this.options = options
    this.#limit = limit
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** @throws ConnectionLost if no connection can be made */
  async with<T>(work: (wire: Wire) => Promise<T>): Promise<T> {
    await this.#turn()
    let wire: Wire | null = null
    try {
      wire = await this.#open()
      return await work(wire)
    } finally {
      if (wire !== null) this.#giveBack(wire)
      this.#busy--
      this.#waiting.shift()?.()
    }
  }

  async #turn(): Promise<void> {
    while (this.#busy >= this.#limit) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    this.#busy++
  }

  async #open(): Promise<Wire> {
    if (this.#isClosed) throw new ConnectionLost('The database is closed')
    for (let wire = this.#idle.pop(); wire !== undefined; wire = this.#idle.pop()) {
      if (!wire.isBroken) return wire
    }
    const wire = await Wire.open(this.options)
    this.#wires.add(wire)
    return wire
  }

  #giveBack(wire: Wire): void {
    if (!wire.isBroken && !this.#isClosed) {
      this.#idle.push(wire)
      return
    }
    wire.close()
    this.#wires.delete(wire)
  }

  /** Lets running statements finish; their deadline is near. Harmless when called again. */
  async close(): Promise<void> {
    this.#isClosed = true
    while (this.#busy > 0) await new Promise<void>((resolve) => this.#waiting.push(resolve))
    for (const wire of this.#wires) wire.close()
    this.#wires.clear()
  }
}
