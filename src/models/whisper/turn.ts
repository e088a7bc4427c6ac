/** Long calculations of ours stand still now and then, so that the engine hears what else is wanted. */

/** Until everything that waits in the loop has had its turn. */
export const yieldTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
