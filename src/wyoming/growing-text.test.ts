/** The text of a stream, word by word: whole sentences leave at once, and one without an end costs no more per word. */
import { expect, test } from 'bun:test'
import { GrowingText } from './speaking.ts'

async function partsOf(words: readonly string[]): Promise<string[]> {
  const text = new GrowingText()
  const found: string[] = []
  const reading = (async () => {
    for (let part = await text.next(4096); part !== null; part = await text.next(4096)) found.push(part)
  })()
  for (const word of words) {
    text.add(word)
    // The reader has its turn.
    await Promise.resolve()
    await Promise.resolve()
  }
  text.end()
  await reading
  return found
}

test('a sentence leaves once the next one has begun, and the rest at the end', async () => {
  expect(await partsOf(['One', ' is here', '.', ' ', 'Two', ' at 3', '.5', ' too!', ' And', ' three'])).toEqual([
    'One is here. ',
    'Two at 3.5 too! ',
    'And three',
  ])
  expect(await partsOf(['no', ' end'])).toEqual(['no end'])
})

test('four times as many words without a full stop take about four times as long', async () => {
  const cpuMs = async (count: number) => {
    const words = Array<string>(count).fill('word ')
    const before = process.cpuUsage()
    await partsOf(words)
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  }
  let best = Number.POSITIVE_INFINITY
  for (let attempt = 0; attempt < 8 && best > 8; attempt++) {
    // Below some milliseconds the clock is too coarse.
    const few = Math.max(4, Math.min(await cpuMs(4000), await cpuMs(4000)))
    best = Math.min(best, (await cpuMs(16_000)) / few)
  }
  expect(best).toBeLessThan(8)
})
