/**
 * One account that requests everything it can get, and one that requests a sentence now and then: how long the second
 * one waits for its first sound, alone and beside the first; on request, beside other programs, too.
 */
import { listen, keysOf, startLoops, unseen } from './crowd.ts'
import { printTable, spreadOf } from './figures.ts'
import { startSubject, warmUp } from './subject.ts'
import { texts } from './texts.ts'

/** The default limit of parallel requests for an account. */
const greedyStreams = 16
const pauseMs = 500
/** Then the sentences that were spoken must do. */
const longestMs = 45_000

/** @param besides numbers of programs that compute endlessly, one after another */
export async function measureModest(executable: string, requests: number, besides: readonly number[]): Promise<object> {
  const records: object[] = []
  for (const beside of besides) records.push({ beside, ...(await measureOne(executable, requests, beside)) })
  return records
}

async function measureOne(executable: string, requests: number, beside: number): Promise<object> {
  const subject = await startSubject(executable)
  let stop = () => {}
  try {
    await warmUp(subject)
    stop = startLoops(beside)
    const [greedy = '', modest = ''] = await keysOf(subject, 2)
    const ask = async () => {
      const seen = unseen()
      const endMs = performance.now() + longestMs
      for (let n = 0; n < requests && performance.now() < endMs; n++) {
        await listen(subject.url, modest, texts[2]!, seen)
        await Bun.sleep(pauseMs)
      }
      return { ...seen, firstMs: spreadOf(seen.firstMs) }
    }
    const alone = await ask()
    const others = unseen()
    const long = texts.join(' ').repeat(3)
    const leaving = new AbortController()
    const company = Array.from({ length: greedyStreams }, async () => {
      while (!leaving.signal.aborted) await listen(subject.url, greedy, long, others, leaving.signal)
    })
    await Bun.sleep(2000)
    const accompanied = await ask()
    // Their streams would last for minutes.
    leaving.abort()
    await Promise.all(company)
    const row = (name: string, { firstMs, gaps, whole }: typeof alone) => [
      name,
      whole,
      firstMs.median,
      firstMs.p95,
      gaps,
    ]
    printTable(`A modest account, ${requests} sentences, ${beside} programs beside`, [
      ['', 'whole', 'first ms', 'p95', 'dry'],
      row('alone', alone),
      row(`beside ${greedyStreams} streams of another`, accompanied),
    ])
    return { alone, accompanied, greedy: { ...others, firstMs: spreadOf(others.firstMs) } }
  } finally {
    stop()
    await subject.stop()
  }
}
