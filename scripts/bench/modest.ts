/**
 * One account that requests everything it can get, and one that requests a sentence now and then: how long the second
 * one waits for its first sound, alone and beside the first.
 */
import { listen, keysOf, unseen } from './crowd.ts'
import { printTable, spreadOf } from './figures.ts'
import { startSubject, warmUp } from './subject.ts'
import { texts } from './texts.ts'

/** The default limit of parallel requests for an account. */
const greedyStreams = 16
const pauseMs = 500

export async function measureModest(executable: string, requests: number): Promise<object> {
  const subject = await startSubject(executable)
  try {
    await warmUp(subject)
    const [greedy = '', modest = ''] = await keysOf(subject, 2)
    const ask = async () => {
      const seen = unseen()
      for (let n = 0; n < requests; n++) {
        await listen(subject.url, modest, texts[2]!, seen)
        await Bun.sleep(pauseMs)
      }
      return { ...seen, firstMs: spreadOf(seen.firstMs) }
    }
    const alone = await ask()
    let isOver = false
    const others = unseen()
    const long = texts.join(' ').repeat(3)
    const company = Array.from({ length: greedyStreams }, async () => {
      while (!isOver) await listen(subject.url, greedy, long, others)
    })
    await Bun.sleep(2000)
    const beside = await ask()
    isOver = true
    await Promise.all(company)
    const row = (name: string, { firstMs, gaps, whole }: typeof alone) => [
      name,
      whole,
      firstMs.median,
      firstMs.p95,
      gaps,
    ]
    printTable(`A modest account, ${requests} sentences`, [
      ['', 'whole', 'first ms', 'p95', 'dry'],
      row('alone', alone),
      row(`beside ${greedyStreams} streams of another`, beside),
    ])
    return { alone, beside, greedy: { ...others, firstMs: spreadOf(others.firstMs) } }
  } finally {
    await subject.stop()
  }
}
