/**
 * Makes src/phonemes/dictionary.zst and letters.zst from the CMU Pronouncing Dictionary. Also measures how words
 * outside the dictionary are spoken: a tenth of its words is held out, and a model trained on the others speaks them.
 * `bun scripts/g2p/train.ts [--measure]`; with --measure it writes no file. Takes some five minutes.
 */
import { join } from 'node:path'
import { Dictionary, packDictionary } from '../../src/phonemes/dictionary.ts'
import { Letters } from '../../src/phonemes/letters.ts'
import { codeOf, name, type Phone, parsePhones } from '../../src/phonemes/phones.ts'
import { Pronouncer } from '../../src/phonemes/pronouncer.ts'
import { type Alignment, align, type Entry } from './align.ts'
import { editDistance } from './distance.ts'
import { train } from './ngrams.ts'
import { packLetters } from './pack-letters.ts'
import { chosenWords, trainingWords, variants } from './sources.ts'

const order = 6
const threshold = 3e-7
/** A letter that speaks something so rarely is a mistake in the dictionary. */
const rarest = 3

/** One word in ten, always the same ones. */
const isHeldOut = (word: string): boolean => Bun.hash.wyhash(word) % 10n === 0n

const entries: Entry[] = trainingWords().map((word) => ({ word, phones: parsePhones(variants(word)[0] as string) }))
console.error(`aligning ${entries.length} words`)
const alignments = align(entries)

function trainLetters(isTaken: (word: string) => boolean): Uint8Array {
  const counts = new Map<string, number>()
  const taken = entries.flatMap(({ word }, index) => {
    const alignment = alignments[index] ?? null
    return alignment !== null && isTaken(word) ? [pairsOf(word, alignment)] : []
  })
  for (const pair of taken.flat()) counts.set(pair, (counts.get(pair) ?? 0) + 1)
  const known = [...counts].filter(([, count]) => count >= rarest).map(([pair]) => pair)
  const symbols = new Map(known.map((pair, index) => [pair, String.fromCharCode(0x100 + index)]))
  const sequences = taken.map((pairs) => pairs.map((pair) => symbols.get(pair)))
  const whole = sequences.filter((sequence): sequence is string[] => !sequence.includes(undefined))
  const model = train(
    whole.map((sequence) => sequence.join('')),
    order,
    threshold,
  )
  const byLetter = new Map([...symbols].map(([pair, symbol]) => [symbol, [pair[0] as string, pair.slice(2)] as const]))
  return packLetters(model, byLetter)
}

const pairsOf = (word: string, alignment: Alignment): string[] =>
  alignment.map((spoken, index) => `${word[index] as string}|${spoken}`)

function report(what: string, speak: (word: string) => readonly Phone[], words: readonly string[]): void {
  const count = { words: 0, sounds: 0, phones: 0, wrong: 0 }
  for (const word of words) {
    const said = speak(word).map(name)
    const bare = said.map(withoutStress)
    const wanted = variants(word).map((written) => written.split(' '))
    if (wanted.some((one) => one.join(' ') === said.join(' '))) count.words++
    if (wanted.some((one) => one.map(withoutStress).join(' ') === bare.join(' '))) count.sounds++
    const nearest = wanted.map((one) => ({ one, wrong: editDistance(bare, one.map(withoutStress)) }))
    const { one, wrong } = nearest.reduce((best, next) => (next.wrong < best.wrong ? next : best))
    count.phones += one.length
    count.wrong += wrong
  }
  const percent = (part: number, of: number) => `${((100 * part) / of).toFixed(1)} %`
  console.log(
    `${what}: ${words.length} words; right with stress ${percent(count.words, words.length)}, ` +
      `without ${percent(count.sounds, words.length)}; phone errors ${percent(count.wrong, count.phones)}`,
  )
}

const withoutStress = (phone: string): string => phone.replace(/\d/, '')

const held = entries.map(({ word }) => word).filter(isHeldOut)
const chosen = chosenWords()
const codes = (phones: readonly Phone[]) => phones.map((phone) => codeOf(name(phone)))
const packed = (isTaken: (word: string) => boolean) =>
  packDictionary(new Map([...chosen].filter(([word]) => isTaken(word)).map(([word, phones]) => [word, codes(phones)])))

console.error('training without the words held out')
const letters = new Letters(trainLetters((word) => !isHeldOut(word)))
report('letters alone', (word) => letters.phones(word), held)
const pronouncer = new Pronouncer(new Dictionary(packed((word) => !isHeldOut(word))), () => letters)
report('with known stems', (word) => pronouncer.phones(word, true), held)

if (!process.argv.includes('--measure')) {
  console.error('training with all words')
  const folder = join(import.meta.dir, '..', '..', 'src', 'phonemes')
  for (const [file, bytes] of [
    ['dictionary.zst', packed(() => true)],
    ['letters.zst', trainLetters(() => true)],
  ] as const) {
    const compressed = await Bun.zstdCompress(bytes, { level: 19 })
    await Bun.write(join(folder, file), compressed)
    console.log(`${file}: ${compressed.length} bytes`)
  }
}
