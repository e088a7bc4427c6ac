/**
 * How far our English phonemes agree with misaki's, with which Kokoro was trained.
 *
 * python3 scripts/golden/phonemes.py us < SENTENCES > GOLDEN
 * bun scripts/g2p/compare.ts us SENTENCES GOLDEN [LEXICON]
 *
 * SENTENCES has one a line. With misaki's us_gold.json as LEXICON the single words of the dictionary are compared too.
 * Words that misaki does not know are left out. The commonest differences are printed.
 */
import { american } from '../../src/phonemes/american.ts'
import { british } from '../../src/phonemes/british.ts'
import { English } from '../../src/phonemes/english.ts'
import { readings } from '../../src/phonemes/heteronyms.ts'
import { loadPronouncer } from '../../src/phonemes/pronouncer.ts'
import { sentences } from '../../src/phonemes/sentences.ts'
import { emptyLexicon } from '../../src/text/lexicon.ts'
import { editDistance } from './distance.ts'
import { trainingWords } from './sources.ts'

const [accent, textFile, goldenFile, lexiconFile] = process.argv.slice(2)
if ((accent !== 'us' && accent !== 'gb') || textFile === undefined || goldenFile === undefined) {
  throw new Error('usage: compare.ts us|gb SENTENCES GOLDEN [LEXICON]')
}
const pronouncer = await loadPronouncer()
const english = new English(pronouncer, accent === 'us' ? 'american' : 'british')
const spell = accent === 'us' ? american : british

type GoldenToken = readonly [text: string, tag: string, phonemes: string, space: boolean]
const unknown = '?'
const punctuation = /[;:,.!?—…"“”()]/g

function ours(text: string): { word: string; spoken: string }[] {
  return [...sentences(text, emptyLexicon)].flatMap(({ words }) =>
    english.speak(words).map((spoken, at) => ({ word: words[at]?.text ?? '', spoken })),
  )
}

function theirs(tokens: readonly GoldenToken[]): string[] {
  let line = ''
  for (const [text, , phonemes, space] of tokens) {
    const missing = phonemes === '' && /[A-Za-z0-9]/.test(text)
    line += (missing ? unknown : phonemes.replace(punctuation, ' ')) + (space ? ' ' : '')
  }
  return line.split(' ').filter((word) => word !== '')
}

/** Pairs of words at the same position; '' where one side has no word. */
function aligned(a: readonly { word: string; spoken: string }[], b: readonly string[]): [string, string, string][] {
  const width = b.length + 1
  const cost = new Float64Array((a.length + 1) * width)
  const apart = (one: string, other: string) =>
    one === other || other.includes(unknown)
      ? 0
      : 2 * (editDistance([...one], [...other]) / Math.max(one.length, other.length))
  for (let i = 0; i <= a.length; i++) {
    for (let j = 0; j <= b.length; j++) {
      if (i === 0 || j === 0) cost[i * width + j] = i + j
      else {
        const both = cost[(i - 1) * width + j - 1]! + apart(a[i - 1]!.spoken, b[j - 1]!)
        cost[i * width + j] = Math.min(both, cost[(i - 1) * width + j]! + 1, cost[i * width + j - 1]! + 1)
      }
    }
  }
  const pairs: [string, string, string][] = []
  for (let i = a.length, j = b.length; i > 0 || j > 0;) {
    const here = cost[i * width + j]!
    if (i > 0 && j > 0 && here === cost[(i - 1) * width + j - 1]! + apart(a[i - 1]!.spoken, b[j - 1]!)) {
      i--
      j--
      pairs.unshift([a[i]!.word, a[i]!.spoken, b[j]!])
    } else if (i > 0 && here === cost[(i - 1) * width + j]! + 1) {
      i--
      pairs.unshift([a[i]!.word, a[i]!.spoken, ''])
    } else {
      j--
      pairs.unshift(['', '', b[j]!])
    }
  }
  return pairs
}

class Tally {
  words = 0
  equal = 0
  equalSounds = 0
  symbols = 0
  wrong = 0
  readonly differences = new Map<string, number>()

  add(word: string, mine: string, golden: string): void {
    this.words++
    if (mine === golden) this.equal++
    else
      this.differences.set(
        `${word.toLowerCase()} ${mine} ${golden}`,
        1 + (this.differences.get(`${word.toLowerCase()} ${mine} ${golden}`) ?? 0),
      )
    const bare = (spoken: string) => spoken.replace(/[ˈˌ]/g, '')
    if (bare(mine) === bare(golden)) this.equalSounds++
    this.symbols += golden.length
    this.wrong += editDistance([...mine], [...golden])
  }

  report(what: string, listed: number): void {
    const percent = (part: number, of: number) => `${((100 * part) / of).toFixed(1)} %`
    console.log(
      `${what}: ${this.words} words; equal ${percent(this.equal, this.words)}, but for stress ` +
        `${percent(this.equalSounds, this.words)}; symbols that differ ${percent(this.wrong, this.symbols)}`,
    )
    const common = [...this.differences].sort((a, b) => b[1] - a[1]).slice(0, listed)
    for (const [difference, count] of common) console.log(`  ${count} ${difference}`)
  }
}

const lines = (await Bun.file(textFile).text()).trim().split('\n')
const golden = (await Bun.file(goldenFile).text()).trim().split('\n')
const running = new Tally()
const alike = { words: 0, right: 0, wrong: new Map<string, number>() }

/** Of the possible pronunciations of a word, misaki took the one nearest to its phonemes. */
function compareReading(word: string, mine: string, reference: string, line: string): void {
  const kinds = readings(word.toLowerCase(), (stem) => pronouncer.known(stem))
  const spoken = [...new Set([...(kinds?.values() ?? [])].map((phones) => spell(phones, word.toLowerCase())))]
  if (spoken.length < 2) return
  const apart = (one: string) => editDistance([...one], [...reference])
  const nearest = spoken.reduce((best, one) => (apart(one) < apart(best) ? one : best))
  alike.words++
  if (nearest === mine) alike.right++
  else alike.wrong.set(`${word}: ${mine}, not ${nearest}: ${line}`, 1)
}
for (const [index, line] of lines.entries()) {
  const tokens = JSON.parse(golden[index] as string) as GoldenToken[]
  for (const [word, mine, reference] of aligned(ours(line), theirs(tokens))) {
    if (reference.includes(unknown)) continue
    running.add(word, mine, reference)
    if (word !== '' && reference !== '') compareReading(word, mine, reference, line)
  }
}
running.report(`${lines.length} sentences`, 60)
const share = ((100 * alike.right) / alike.words).toFixed(1)
console.log(`words spoken by what they are in the sentence: ${alike.words}; the same way as misaki ${share} %`)
for (const one of [...alike.wrong.keys()].slice(0, 60)) console.log(`  ${one}`)

if (lexiconFile !== undefined) {
  const lexicon = (await Bun.file(lexiconFile).json()) as Record<string, string | Record<string, string | null>>
  const single = new Tally()
  for (const word of trainingWords()) {
    const entry = lexicon[word]
    if (entry === undefined) continue
    const readings = typeof entry === 'string' ? [entry] : Object.values(entry).filter((one) => one !== null)
    const wanted = readings.map((one) => one.replaceAll('ɾ', 'T').replaceAll('ʔ', 't'))
    const mine = spell(pronouncer.phones(word, false), word)
    single.add(word, mine, wanted.find((one) => one === mine) ?? (wanted[0] as string))
  }
  single.report('single words', 0)
}
