/** Names of inputs and outputs as C has them. */
import { ptr, type Pointer } from 'bun:ffi'

/** Addresses that hold for as long as this object lives. */
export class CNames {
  /** All texts, in order, as C expects them: `const char *const *`. */
  readonly addresses: BigUint64Array
  readonly #byName: ReadonlyMap<string, Pointer>
  /** One unshared block: the memory of a small JavaScript array may move. */
  readonly #texts: ArrayBuffer

  constructor(names: readonly string[]) {
    const texts = names.map((name) => Buffer.from(`${name}\0`))
    this.#texts = new ArrayBuffer(
      Math.max(
        1,
        texts.reduce((sum, text) => sum + text.length, 0),
      ),
    )
    const block = new Uint8Array(this.#texts)
    const start = ptr(block)
    let at = 0
    const addresses = texts.map((text) => {
      block.set(text, at)
      at += text.length
      return (start + at - text.length) as Pointer
    })
    this.addresses = new BigUint64Array(new ArrayBuffer(8 * names.length))
    this.addresses.set(addresses.map(BigInt))
    this.#byName = new Map(names.map((name, index) => [name, addresses[index]!]))
  }

  /** @param name one of those given */
  addressOf(name: string): Pointer {
    return this.#byName.get(name)!
  }
}
