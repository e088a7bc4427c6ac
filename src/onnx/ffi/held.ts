/** A result that stays where it was computed: an `OrtValue *` that several may use, given back by the last of them. */
import type { Pointer } from 'bun:ffi'
import type { Held, Tensor, TensorData } from '../session.ts'
import type { OrtApi } from './api.ts'
import type { FfiDevice } from './device.ts'
import { read, typeOf } from './values.ts'

export class HeldValue implements Held {
  readonly type: Tensor['type']
  readonly dims: readonly number[]
  readonly #api: OrtApi
  readonly #from: FfiDevice
  readonly #name: string
  readonly #pointer: Pointer
  readonly #uses: { count: number }
  #isReleased = false

  /**
   * @param from where it is
   * @param pointer owned by this object and those that share it, unless this throws
   * @throws Error naming the output whose type is not one of `Tensor`
   */
  constructor(api: OrtApi, from: FfiDevice, name: string, pointer: Pointer, uses = { count: 0 }) {
    const { type, dims } = typeOf(api, name, pointer)
    this.type = type
    this.dims = dims
    this.#api = api
    this.#from = from
    this.#name = name
    this.#pointer = pointer
    this.#uses = uses
    uses.count++
  }

  /** @throws Error after `release`: what it points to may belong to something else then */
  get pointer(): Pointer {
    if (this.#isReleased) throw new Error(`the held ${this.#name} was released`)
    return this.#pointer
  }

  get data(): TensorData {
    return read(this.#api, this.#from, this.#name, this.pointer).data
  }

  /** The same value for another user, who releases it too. */
  shared(): HeldValue {
    return new HeldValue(this.#api, this.#from, this.#name, this.pointer, this.#uses)
  }

  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    if (--this.#uses.count === 0) this.#api.call.ReleaseValue(this.#pointer)
  }
}
