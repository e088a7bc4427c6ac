/**
 * Runs beside the engine's loop, which continues meanwhile and can stop them: a run ends at its next node once its
 * terminate flag is set. A run on the loop's own thread could not be stopped, because nothing else happens there.
 *
 * A session on `threads` threads computes as many runs at once. One of them is led by a thread of ours
 * (`led-runs.ts`), and the other threads, which are the session's pool, help it. Further runs are led by threads of the
 * pool (`pool-runs.ts`). If all were, many would have no help: a leader offers a share of each loop to one thread of
 * the pool, the same each time, and for one of the leaders that thread is itself. With a pool of two, half of all runs
 * used one core of two. A session on one thread has no pool: a thread of ours leads each of its runs.
 */
import { beginRun, runsUnderWay } from '../runs.ts'
import { runLed } from './led-runs.ts'
import { runInPool } from './pool-runs.ts'
import type { Runnable, RunCall } from './run-call.ts'
import { releaseAll, type Values } from './values.ts'

/** A run that has begun. */
export interface AsyncRun {
  /**
   * Resolves once it has ended successfully: `results` are filled and belong to the caller.
   * @throws Error in ONNX Runtime's words, also when it was terminated; then there are no results to release
   */
  readonly ended: Promise<void>
  /** Sets the flag: the run fails at its next node. Harmless when repeated, and after the end. */
  terminate(): void
}

/** Sessions with a run that a thread of ours leads. */
const led = new Set<Runnable>()

/**
 * Begins a run.
 * @param given for each input a value, or 0n; owned by the caller, who releases it once the run has ended
 * @param results as many as there are outputs, all 0n
 * @param shrinks whether unused memory goes back to the system afterwards
 */
export function startRun(runnable: Runnable, given: Values, results: Values, shrinks: boolean): AsyncRun {
  const { api } = runnable
  const options = shrinks ? api.shrinkingOptions('cpu:0') : api.made((out) => api.call.CreateRunOptions(out))
  let isOver = false
  const ended = run({ runnable, options, given, results }).finally(() => {
    isOver = true
    api.call.ReleaseRunOptions(options)
  })
  const terminate = () => {
    if (!isOver) api.check(api.call.RunOptionsSetTerminate(options))
  }
  return { ended, terminate }
}

async function run(call: RunCall): Promise<void> {
  const { runnable, results } = call
  const isLed = runnable.threads === 1 || !led.has(runnable)
  if (isLed) led.add(runnable)
  const note = beginRun()
  timer ??= setInterval(() => {}, longestMs)
  try {
    runnable.api.check(await (isLed ? runLed(call) : runInPool(call)))
  } catch (error) {
    releaseAll(runnable.api, results)
    throw error
  } finally {
    if (isLed) led.delete(runnable)
    note()
    letEnd()
  }
}

/** Neither a pending callback nor a thread keeps the process alive, so a timer does. */
let timer: ReturnType<typeof setInterval> | null = null
const longestMs = 2 ** 31 - 1

function letEnd(): void {
  if (runsUnderWay() > 0 || timer === null) return
  clearInterval(timer)
  timer = null
}
