/**
 * Many clients for minutes, some of which disconnect in the middle. Then the database is checked: no operation is
 * pending, memory was given back, and the balance has dropped by exactly what usage reports as charged.
 */
import { until } from '../../src/testing/until.ts'
import { printTable } from './figures.ts'
import { peakDuring } from './lifetime.ts'
import { openingMicros, readsMetrics, residentNow, speech, startSubject, type Subject, warmUp } from './subject.ts'

const clients = 64
/** More than can be done: the time ends the soak. */
const requests = 1_000_000

export async function soak(executable: string, seconds: number): Promise<object> {
  const subject = await startSubject(executable)
  try {
    await warmUp(subject)
    const before = residentNow(subject)
    const work = speech(subject, { clients, requests, limitS: seconds, format: 'mp3', abandonEvery: 7 })
    const peak = await peakDuring(subject, work)
    const { samples, failures } = await work
    await until('every operation is settled', async () => (await pending(subject)) === 0, 30_000)
    const after = residentNow(subject)
    // Memory that was given back to the operating system shows only after a while without work.
    await Bun.sleep(10_000)
    const later = residentNow(subject)
    const books = await booksOf(subject)
    const left = samples.filter(({ isAbandoned }) => isAbandoned).length
    printTable(`Soak: ${clients} clients, mp3, ${seconds} s`, [
      ['what', 'figure'],
      ['answers read to the end', samples.length - left],
      ['answers left after the first audio', left],
      ['failures', failures.length],
      ['pending afterwards', await pending(subject)],
      ['server MB: before, peak, after, 10 s later', memory('serverMb')],
      ['engine MB: before, peak, after, 10 s later', memory('engineMb')],
      ['taken from the balance, micros', String(books.takenMicros)],
      ['charged according to usage, micros', String(books.chargedMicros)],
      ['operations according to usage', String(books.requests)],
    ])
    function memory(of: 'serverMb' | 'engineMb'): string {
      return [before, peak, after, later].map((sample) => sample[of].toFixed(0)).join(', ')
    }
    if (books.takenMicros !== books.chargedMicros) throw new Error('the ledger and the usage do not agree')
    return { seconds, clients, left, completed: samples.length - left, failures, before, peak, after, later, books }
  } finally {
    await subject.stop()
  }
}

async function pending({ url }: Subject): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: readsMetrics })).text()
  return Number(/^voice_operations_pending (\d+)$/m.exec(text)?.[1] ?? Number.NaN)
}

async function booksOf({ url, key }: Subject) {
  const get = async (path: string): Promise<unknown> =>
    (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })).json()
  const me = (await get('/v1/me')) as { balance_micros: number }
  const { totals } = (await get('/v1/usage')) as {
    totals: { charged_micros: number; speech: { requests: number } }
  }
  return {
    takenMicros: openingMicros - me.balance_micros,
    chargedMicros: totals.charged_micros,
    requests: totals.speech.requests,
  }
}
