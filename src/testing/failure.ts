/**
 * What a promise fails with. For everything that waits for a Worker: `expect().rejects` runs the event loop inside
 * itself and may miss the Worker's message.
 */

/** @typeParam E what it fails with, which nothing here verifies @throws Error when it does not fail */
export const failureOf = <E = Error>(promise: Promise<unknown>): Promise<E> =>
  promise.then(
    () => {
      throw new Error('it did not fail')
    },
    (reason: unknown) => reason as E,
  )
