/** Waits for a state that nobody announces. Announced ones are awaited; nothing is ever slept for. */

/** @throws Error naming what did not happen within the deadline */
export async function until(what: string, isTrue: () => boolean | Promise<boolean>, deadlineMs = 5000): Promise<void> {
  const endMs = performance.now() + deadlineMs
  while (!(await isTrue())) {
    if (performance.now() > endMs) throw new Error(`not within ${deadlineMs} ms: ${what}`)
    await Bun.sleep(2)
  }
}
