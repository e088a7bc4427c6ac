/**
 * Several times as much to say as the machine can, for minutes: requests come at random moments, whether earlier ones
 * were answered or not, and those that are refused do not come again. How much the machine can is measured first.
 */
import { Seeded } from '../../src/testing/seeded.ts'
import { accounts, crowd, figuresHead, figuresOf, keysOf, listen, rowOf, type Seen, unseen } from './crowd.ts'
import { printTable, round } from './figures.ts'
import { startSubject, type Subject, warmUp } from './subject.ts'
import { texts } from './texts.ts'

/** Enough to keep the engine busy all the time. */
const fullClients = 32

export interface OverloadSizes {
  /** Of the overload, and of the measurement before it. */
  seconds: number
  fullSeconds: number
  /** How many times as much as the machine can. */
  times: number
}

export async function measureOverload(executable: string, sizes: OverloadSizes): Promise<object> {
  const { seconds, fullSeconds, times } = sizes
  const subject = await startSubject(executable, { MYNA_QUEUE_WAIT_MS: '20000' })
  try {
    await warmUp(subject)
    const keys = await keysOf(subject, accounts)
    const full = await figuresOf(subject, () => crowd(subject, keys, fullClients, fullSeconds))
    const soundS = full.soundMs / 1000 / full.whole
    const perSecond = (times * full.soundPerSecond) / soundS
    const seed = Math.floor(Math.random() * 1e9)
    const over = await figuresOf(subject, () => arrivals(subject, keys, { perSecond, seconds, seed }))
    printTable(`${times} times capacity for ${seconds} s: ${round(perSecond)} requests a second, seed ${seed}`, [
      ['', ...figuresHead],
      [`${fullClients} clients`, ...rowOf(full)],
      [`${times} times capacity`, ...rowOf(over)],
    ])
    return { ...sizes, perSecond, seed, full, over }
  } finally {
    await subject.stop()
  }
}

interface Arrivals {
  perSecond: number
  seconds: number
  seed: number
}

async function arrivals({ url }: Subject, keys: readonly string[], order: Arrivals): Promise<Seen> {
  const seen = unseen()
  const random = new Seeded(order.seed)
  const startMs = performance.now()
  const listening: Promise<number>[] = []
  for (let atS = 0; ;) {
    atS += -Math.log(1 - random.next()) / order.perSecond
    if (atS > order.seconds) break
    const waitMs = startMs + 1000 * atS - performance.now()
    if (waitMs > 0) await Bun.sleep(waitMs)
    listening.push(listen(url, random.pick(keys), random.pick(texts), seen))
  }
  await Promise.all(listening)
  return seen
}
