/** Several things at once, but not all: what downloads, questions to the hub and their like have in common. */

/**
 * Results in the order of the items. The first failure ends the rest, which is waited for.
 * @param work its signal aborts with the given one, and when another item fails
 * @throws what failed first
 */
export async function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  signal: AbortSignal,
  work: (item: T, signal: AbortSignal) => Promise<R>,
): Promise<R[]> {
  const failing = new AbortController()
  const either = AbortSignal.any([signal, failing.signal])
  const results: R[] = []
  const queue = items.entries()
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, async () => {
    for (const [at, item] of queue) results[at] = await work(item, either)
  })
  try {
    await Promise.all(workers)
  } catch (error) {
    failing.abort(error)
    await Promise.allSettled(workers)
    throw error
  }
  return results
}
