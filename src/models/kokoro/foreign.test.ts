import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countChars } from '../../domain/charge.ts'
import { symbolIds } from '../../phonemes/symbols.ts'
import { randomText } from '../../text/random-text.fixture.ts'
import { forEachSeed } from '../../testing/seeded.ts'
import { until } from '../../testing/until.ts'
import type { Unit } from '../../phonemes/chunks.ts'
import { Espeak } from './espeak.ts'
import { espeakVoices, foreignUnits, toSymbols } from './foreign.ts'

const folder = mkdtempSync(join(tmpdir(), 'myna-espeak-'))
afterAll(() => rmSync(folder, { recursive: true }))

/** A program that behaves like espeak-ng, or fails to. */
function program(name: string, script: string): Espeak {
  const path = join(folder, name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return new Espeak(path)
}

let echo: Espeak
beforeAll(() => {
  echo = program('echo', 'exec cat')
})

const never = new AbortController().signal

async function units(text: string, espeak = echo, voice = 'es'): Promise<Unit[]> {
  const found: Unit[] = []
  for await (const unit of foreignUnits(text, voice, espeak, never)) found.push(unit)
  return found
}

const spoken = async (text: string) => (await units(text)).map(({ symbols }) => symbols).join(' ')

test('marks stay with their words; Markdown and signs without a sound are removed', async () => {
  expect(await spoken('**uno**, dos (tres) — ¿cuatro?\n\n- cinco 👋\n- seis')).toBe(
    'uno, dos, tres, cuatro? cinco. seis.',
  )
  expect(await spoken('"a" b… c: d; e। f')).toBe('a b… c: d; e. f.')
  expect(await spoken('3.14 y 12:30')).toBe('y.')
  expect(await spoken('👋 …')).toBe('')
})

test('units end where the text does, and state what ends there', async () => {
  expect(await units('uno dos. tres\n\n# seis\nno')).toEqual([
    { symbols: 'uno', end: 0, ends: 'word' },
    { symbols: 'dos.', end: 8, ends: 'sentence' },
    { symbols: 'tres.', end: 13, ends: 'paragraph' },
    { symbols: 'seis.', end: 21, ends: 'paragraph' },
    { symbols: 'no.', end: 24, ends: 'sentence' },
  ])
})

test('diphthongs and affricates become one symbol; language switches and unknown signs are removed', () => {
  expect(toSymbols('t^ʃˈa^ʊ (^e^n)d^ʒˈe^ɪ(^e^s) s.ˈo-lo')).toBe('ʧˈW ʤˈA s.ˈolo')
})

test('for any text, the symbols are ones that the voices know, and positions rise to the end', () =>
  forEachSeed(40, async (random) => {
    const text = randomText(random, random.whole(1, 40))
    let covered = 0
    const found = await units(text)
    for (const { symbols, end } of found) {
      for (const symbol of symbols) expect(symbolIds.has(symbol)).toBe(true)
      expect(end).toBeGreaterThanOrEqual(covered)
      covered = end
    }
    if (found.length > 0) expect(covered).toBe(countChars(text))
  }))

test('a line that the program breaks in two is requested alone, and joined', async () => {
  const breaking = program('breaking', "exec sed 's/|/\\n/'")
  expect(await breaking.phonemes(['a|b', 'c'], 'es', never)).toEqual(['a b', 'c'])
})

test('a program that fails or writes too much fails the text', async () => {
  const failure = (espeak: Espeak) => espeak.phonemes(['a'], 'es', never).then(String, (error: Error) => error.message)
  expect(await failure(program('failing', 'exit 3'))).toBe('espeak-ng ended with 3 for voice es')
  expect(await failure(program('flood', 'exec yes'))).toContain('espeak-ng ended with SIGKILL')
})

test('the signal ends the program', async () => {
  const started = join(folder, 'started')
  const hanging = program('hanging', `echo $$ > ${started}.part && mv ${started}.part ${started} && exec sleep 600`)
  const abort = new AbortController()
  const work = hanging.phonemes(['a'], 'es', abort.signal).catch((error: unknown) => error)
  await until('the program runs', () => existsSync(started))
  abort.abort('enough')
  expect(await work).toBe('enough')
})

// A machine without espeak-ng cannot run this test.
test.skipIf(Espeak.find() === null)('every language of the voices gives symbols that they know', async () => {
  const texts = {
    es: 'El niño come.',
    fr: "L'été, ça va ?",
    hi: 'नमस्ते दुनिया।',
    it: 'Che bella giornata!',
    pt: 'Você não está.',
  }
  for (const [language, text] of Object.entries(texts)) {
    const found = await units(text, Espeak.find() as Espeak, espeakVoices.get(language))
    const symbols = found.map((unit) => unit.symbols).join(' ')
    expect(symbols).toMatch(/ˈ.*[.?!]$/)
    for (const symbol of symbols) expect(symbolIds.has(symbol)).toBe(true)
  }
})
