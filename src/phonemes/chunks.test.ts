import { expect, test } from 'bun:test'
import { forEachSeed } from '../testing/seeded.ts'
import { golden } from '../models/kokoro/kokoro.fixture.ts'
import { type Chunk, type ChunkLimits, chunks, type Unit, usualLimits } from './chunks.ts'

async function all(units: readonly Unit[], limits: ChunkLimits = usualLimits): Promise<Chunk[]> {
  const made: Chunk[] = []
  for await (const chunk of chunks(units, limits)) made.push(chunk)
  return made
}

/** The words of a text as written, each with the positions it covers. */
function unitsOf(text: string): Unit[] {
  let end = 0
  return text.split(' ').map((word) => {
    end += word.length + 1
    const symbols = word.replace('¶', '')
    return { symbols, end, ends: word.endsWith('¶') ? 'paragraph' : /[.!?]$/.test(word) ? 'sentence' : 'word' }
  })
}

const texts = async (text: string, limits?: ChunkLimits) =>
  (await all(unitsOf(text), limits)).map(({ symbols }) => symbols)

const sentence = (length: number) => `${'abcd '.repeat(length / 5 - 1)}abcd.`

test('the first sentence goes alone, the others are joined until they are enough', async () => {
  const made = await texts(`${sentence(30)} ${sentence(60)} ${sentence(60)} ${sentence(60)} ${sentence(60)}`)
  expect(made.map(({ length }) => length)).toEqual([30, 121, 121])
})

test('a long first sentence is cut at its last pause in time, else at a word', async () => {
  expect((await texts(`${'abcd '.repeat(8)}abcd, ${'abcd '.repeat(40)}abcd.`))[0]).toBe(`${'abcd '.repeat(8)}abcd,`)
  expect((await texts(sentence(300)))[0]?.length).toBe(144)
})

test('the last chunk is known as such', async () => {
  for (const text of [
    'Yes.',
    `${sentence(30)} ${sentence(60)}`,
    `${sentence(30)} ${sentence(60)} ${sentence(60)} Yes.`,
  ]) {
    const made = await all(unitsOf(text))
    expect(made.map(({ isLast }) => isLast)).toEqual(made.map((_, at) => at === made.length - 1))
  }
})

test('a very short beginning or end joins its neighbour', async () => {
  expect(await texts('Hi. This is a longer sentence.')).toEqual(['Hi. This is a longer sentence.'])
  expect(await texts(`${sentence(40)} Yes.`)).toEqual([`${sentence(40)} Yes.`])
  expect(await texts('Yes.')).toEqual(['Yes.'])
})

test('without a pause it is cut before a clause, a phrase or any word, not behind one that leads on', async () => {
  const words = (changed: Partial<Record<number, Partial<Unit>>>): Unit[] =>
    Array.from({ length: 60 }, (_, at) => ({
      symbols: 'abcd',
      end: at,
      ends: at === 59 ? 'sentence' : 'word',
      ...changed[at],
    }))
  const first = async (changed: Parameters<typeof words>[0]) => (await all(words(changed)))[0]!.spans.length
  expect(await first({})).toBe(29)
  expect(await first({ 28: { leads: true } })).toBe(28)
  expect(await first({ 20: { opens: 'phrase' } })).toBe(20)
  expect(await first({ 17: { opens: 'clause' }, 20: { opens: 'phrase' } })).toBe(17)
  expect(await first({ 10: { opens: 'clause' } })).toBe(29)
  const [one, two, three] = await all(words({ 20: { opens: 'phrase', symbols: 'efgh' } }))
  expect([one!.before, one!.after]).toEqual(['', 'efgh abcd ab'])
  expect([two!.before, two!.symbols.slice(0, 9)]).toEqual(['bcd abcd', 'efgh abcd'])
  expect([two!.after, three]).toEqual(['', undefined])
})

test('what is cut at a comma has neighbours, what is cut behind a sentence has none', async () => {
  const made = await all(unitsOf(`${sentence(60)} ${'abcd '.repeat(30)}abcd, ${sentence(200)} ${sentence(130)}`))
  expect(made.map(({ boundary, before, after }) => [boundary, before, after])).toEqual([
    ['sentence', '', ''],
    ['clause', '', 'abcd abcd ab'],
    ['sentence', 'cd abcd,', ''],
    ['sentence', '', ''],
  ])
})

test('a paragraph ends its chunk', async () => {
  const made = await all(unitsOf('A heading stands here¶ and a text below. It ends. Soon¶ a third one is here'))
  expect(made.map(({ symbols, boundary }) => [symbols, boundary])).toEqual([
    ['A heading stands here', 'paragraph'],
    ['and a text below. It ends. Soon', 'paragraph'],
    ['a third one is here', 'word'],
  ])
})

test('cuts at the best mark that leaves a rest short enough', async () => {
  const limits = { most: 60, enough: 1000, first: 1000, firstMost: 1000 }
  const cut = async (text: string) => (await texts(text, limits))[0]
  const words = (count: number) => Array.from({ length: count }, () => 'abcd').join(' ')
  expect(await cut(`${words(4)}. ${words(3)}, ${words(9)}`)).toBe(`${words(4)}.`)
  expect(await cut(`${words(4)}; ${words(3)}, ${words(9)}`)).toBe(`${words(4)};`)
  expect(await cut(`${words(4)}, ${words(3)}, ${words(9)}`)).toBe(`${words(4)}, ${words(3)},`)
  expect(await cut(`${words(2)} (${words(2)}.) ${words(9)}`)).toBe(`${words(2)} (${words(2)}.)`)
  expect(await cut(words(20))).toBe(words(12))
})

test.each(golden.chunks.map(({ text, cuts }) => [cuts.length, text, cuts] as const))(
  'cuts where the reference cuts: %d chunks',
  async (_count, text, cuts) => {
    const limits = { most: 510, enough: Infinity, first: Infinity, firstMost: Infinity }
    expect((await texts(text, limits)).map(({ length }) => length)).toEqual([...cuts])
  },
)

test('for any text, nothing is lost, no chunk is too long, and positions rise to the end', () =>
  forEachSeed(300, async (random) => {
    const units: Unit[] = []
    let end = 0
    for (let count = random.whole(0, 120); count > 0; count--) {
      end += random.whole(0, 9)
      const symbols = 'ə'.repeat(random.chance(0.03) ? random.whole(300, 1200) : random.whole(1, 12))
      const mark = random.pick(['', '', '', ',', '.', ')', '…', ';', ' —'])
      units.push({ symbols: symbols + mark, end, ends: random.pick(['word', 'word', 'word', 'sentence', 'paragraph']) })
    }
    const most = random.whole(30, 510)
    const limits = {
      most,
      enough: random.whole(1, most),
      first: random.whole(1, most),
      firstMost: random.whole(1, most),
    }
    const made = await all(units, limits)
    const letters = (parts: readonly { symbols: string }[]) =>
      parts
        .map(({ symbols }) => symbols)
        .join('')
        .replaceAll(' ', '')
    expect(letters(made)).toBe(letters(units))
    let covered = 0
    for (const { symbols, coveredChars } of made) {
      expect(symbols.length).toBeGreaterThan(0)
      expect(symbols.length).toBeLessThanOrEqual(most)
      expect(coveredChars).toBeGreaterThanOrEqual(covered)
      covered = coveredChars
    }
    if (units.length > 0) expect(covered).toBe(end)
  }))
