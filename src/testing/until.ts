/**
 * Waits for a state that has no event. States with an event are awaited, and no test ever sleeps. The deadline is far
 * beyond what a busy machine takes; it only gives a failure its name.
 */

/** @throws Error naming what did not happen within the deadline */
export async function until(
  what: string,
  isTrue: () => boolean | Promise<boolean>,
  deadlineMs = 20_000,
): Promise<void> {
  const endMs = performance.now() + deadlineMs
  while (!(await isTrue())) {
    if (performance.now() > endMs) throw new Error(`not within ${deadlineMs} ms: ${what}`)
    await Bun.sleep(2)
  }
}
