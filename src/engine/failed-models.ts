/**
 * Models that the child could not load when it last tried (server side). It outlives the child, which may have ended of
 * it, and is forgotten once the model is in memory or its files have changed.
 */
export class FailedModels {
  readonly #reasons = new Map<string, string>()

  /** @param reason null: it is in memory @returns whether this failure is news */
  note(model: string, reason: string | null): boolean {
    if (reason === null) return this.forget(model)
    if (this.#reasons.get(model) === reason) return false
    this.#reasons.set(model, reason)
    return true
  }

  forget(model: string): false {
    this.#reasons.delete(model)
    return false
  }

  list(): { id: string; reason: string }[] {
    return [...this.#reasons].map(([id, reason]) => ({ id, reason }))
  }
}
