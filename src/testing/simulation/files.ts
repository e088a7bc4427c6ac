/**
 * Work of the simulated process that takes turns of the event loop: files and sound. It runs one piece at a time, in
 * the order of the requests, so that a seed gives the same run again. It is counted, so that the simulation can wait
 * for all of it without knowing what it is.
 */
export class Work {
  #last: Promise<unknown> = Promise.resolve()
  #pending = 0

  run<T>(work: () => Promise<T>): Promise<T> {
    this.#pending++
    const done = this.#last.then(work).finally(() => this.#pending--)
    this.#last = done.catch(() => {})
    return done
  }

  /**
   * All running work and all work that follows from it has ended, and every waiting caller has continued as far as it
   * can.
   */
  async settled(): Promise<void> {
    await drained()
    while (this.#pending > 0) {
      await this.#last
      await drained()
    }
  }

  /** The same, with each call of these methods as a piece of work. */
  counted<T extends object>(target: T, names: readonly (keyof T)[]): T {
    return new Proxy(target, {
      get: (_, name) => {
        const method: unknown = Reflect.get(target, name)
        if (typeof method !== 'function') return method
        const call = (...given: unknown[]) => Reflect.apply(method, target, given) as Promise<unknown>
        if (!names.some((each) => each === name)) return call
        return (...given: unknown[]) => this.run(() => call(...given))
      },
    })
  }
}

/** All microtasks have run when this resolves. */
export const drained = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
