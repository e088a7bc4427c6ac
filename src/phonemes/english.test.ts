import { expect, test } from 'bun:test'
import { countChars } from '../domain/charge.ts'
import { emptyLexicon, parseLexicon } from '../text/lexicon.ts'
import { randomText } from '../text/random-text.fixture.ts'
import { forEachSeed } from '../testing/seeded.ts'
import { English } from './english.ts'
import { takeOverrides } from './overrides.ts'
import { loadPronouncer } from './pronouncer.ts'
import type { Accent } from './reductions.ts'
import { sentences } from './sentences.ts'
import { symbolIds } from './symbols.ts'

const pronouncer = await loadPronouncer()

function speak(text: string, accent: Accent = 'american', lexicon = emptyLexicon): string {
  const english = new English(pronouncer, accent)
  const parts = [...sentences(text, lexicon)].map(({ words }) => {
    const spoken = english.speak(words)
    return words.map(({ opening, mark }, at) => opening + spoken[at] + mark).join(' ')
  })
  return parts.join(' ')
}

test.each([
  ['The quick brown fox jumps over the lazy dog.', 'ðə kwˈɪk bɹˈWn fˈɑks ʤˈʌmps ˈOvəɹ ðə lˈAzi dˈɔɡ.'],
  ['Water, butter and a little city.', 'wˈɔTəɹ, bˈʌTəɹ ænd ɐ lˈɪTᵊl sˈɪTi.'],
  ['The kitten wanted roses.', 'ðə kˈɪtn wˈɑntᵻd ɹˈOzᵻz.'],
  ['An apple; the apple: the pear!', 'ɐn ˈæpᵊl; ði ˈæpᵊl: ðə pˈɛɹ!'],
])('American: %s', (text, spoken) => expect(speak(text)).toBe(spoken))

test.each([
  ['The water was hot.', 'ðə wˈɔːtə wɒz hˈɒt.'],
  ['The party starts after the bath.', 'ðə pˈɑːti stˈɑːts ˈɑːftə ðə bˈɑːθ.'],
  ['New cars go over there.', 'njˈuː kˈɑːz ɡˌQ ˈQvə ðˈɛː.'],
])('British: %s', (text, spoken) => expect(speak(text, 'british')).toBe(spoken))

test.each([
  ['They read the record, and record it.', 'ɹˈid', 'ɹˈɛkəɹd', 'ɹəkˈɔɹd'],
  ['She had read it.', 'ɹˈɛd'],
  ['He will read it.', 'ɹˈid'],
  ['The letter that you read last year is here.', 'ɹˈɛd'],
  ['Read the last chapter.', 'ɹˈid'],
  ['Make use of it; memory use is low.', 'jˈus', 'jˈus'],
  ['The tools that people use.', 'jˈuz'],
  ['Have you read it?', 'ɹˈɛd'],
  ['Did you read it?', 'ɹˈid'],
  ['It was wound around the wound.', 'wˈWnd', 'wˈund'],
  ['I polish the Polish table.', 'pˈɑlɪʃ', 'pˈOlɪʃ'],
  ['We live near a live show.', 'lˈɪv', 'lˈIv'],
  ['Close the door, they are close friends.', 'klˈOz', 'klˈOs'],
  ['To present a present.', 'pɹizˈɛnt', 'pɹˈɛzᵊnt'],
  ['I object to the object.', 'əbʤˈɛkt', 'ˈɑbʤəkt'],
  ['We use it, it is of no use.', 'jˈuz', 'jˈus'],
  ['She used to be used.', 'jˈust', 'jˈuzd'],
  ['To separate the separate parts.', 'sˈɛpəɹˌAt', 'sˈɛpəɹət'],
  ['The sign read so.', 'ɹˈɛd'],
  ['It was a good read.', 'ɹˈid'],
  ['Lead poisoning can lead to death.', 'lˈɛd', 'lˈid'],
  ['The pipes are made of lead.', 'lˈɛd'],
  ['The lead singer took the lead.', 'lˈid', 'lˈid'],
  ['Live music: watch it live on TV.', 'lˈIv', 'lˈIv'],
  ['We live where the site goes live.', 'lˈɪv', 'lˈIv'],
  ['Their lives changed, and she lives there.', 'lˈIvz', 'lˈɪvz'],
  ['The roads wind in the wind.', 'wˈInd', 'wˈɪnd'],
  ['A tear is in her eye.', 'tˈɪɹ'],
  ['Tear it up: wear and tear.', 'tˈɛɹ', 'tˈɛɹ'],
  ['The shops close at the close of day.', 'klˈOz', 'klˈOz'],
  ['She got used to it, and is used to the noise.', 'jˈust', 'jˈust'],
  ['It is used to cut.', 'jˈuzd'],
  ['The camera records the records.', 'ɹəkˈɔɹdz', 'ɹˈɛkəɹdz'],
  ['This presents a problem of presents.', 'pɹizˈɛnts', 'pɹˈɛzᵊnts'],
  ['A minute amount of a minute.', 'mInˈut', 'mˈɪnət'],
  ['We caught a bass in the lake.', 'bˈæs'],
  ['Take a bow, with a bow.', 'bˈW'],
  ['Bow down to no bow.', 'bˈW', 'bˈO'],
  ['Please elaborate on the elaborate plan.', 'ɪlˈæbəɹˌAt', 'ɪlˈæbɹət'],
  ['The axes of the graph.', 'ˈæksiz'],
  ['Two axes cut wood.', 'ˈæksˌɪz'],
  ['A bow and arrow.', 'bˈO'],
  ['You reap what you sow.', 'sˈO'],
  ['She wound the clock, the wound healed.', 'wˈWnd', 'wˈund'],
  ['He wound up here.', 'wˈWnd'],
  ['Polish food, and polish it.', 'pˈOlɪʃ', 'pˈɑlɪʃ'],
  ['The produce aisle; they produce it.', 'pɹˈOdˌus', 'pɹədˈus'],
  ['Prices increase, a price increase.', 'ɪnkɹˈis', 'ˈɪnkɹˌis'],
  ['Send your resume, and resume work.', 'ɹˈɛzəmˌA', 'ɹəzˈum'],
  ['He dove into the sea, a dove.', 'dˈOv', 'dˈʌv'],
  ['A bank transfer: transfer it.', 'tɹˈænsfˌɜɹ', 'tɹænsfˈɜɹ'],
])("a word's sound depends on its part of speech: %s", (...all) => {
  const [text, ...spoken] = all as string[] as [string, ...string[]]
  const words = speak(text).split(/[ ,.]+/)
  let from = 0
  for (const one of spoken) {
    const at = words.map((word) => word.replace(/[:;]$/, '')).indexOf(one, from)
    expect({ one, words, at }).not.toEqual({ one, words, at: -1 })
    from = at + 1
  }
})

test.each([
  ['to a', 'tʊ ˈA.'],
  ['to be', 'tə bˈi.'],
  ['I can', 'ˌI kˈæn.'],
  ['I can go', 'ˌI kæn ɡˌO.'],
  ['in', 'ˈɪn.'],
  ['HE IS', 'hˈi ˈɪz.'],
])('small words change with their neighbours: %s', (text, spoken) => expect(speak(text)).toBe(spoken))

test('initialisms are spelled with the stress on the last letter, and have plurals', () => {
  expect(speak('The USA, the FBI and DVDs')).toBe('ðə jˌuˌɛsˈA, ði ˌɛfbˌiˈI ænd dˌivˌidˈiz.')
  expect(speak('plan A and plan B')).toBe('plˈæn ˈA ænd plˈæn bˈi.')
})

test('dashes, brackets and trails of dots stay, because the voices know them', () => {
  expect(speak('Yes — the cat (a small one) slept...')).toBe('jˈɛs — ðə kˈæt (ɐ smˈɔl wˈʌn) slˈɛpt…')
})

test('numbers and money are words', () => {
  expect(speak('It costs $3.50.')).toBe(speak('It costs three dollars and fifty cents.'))
})

test("the user's phonemes win, in Kokoro's symbols or in plain IPA, with a possessive's ending", () => {
  const lexicon = parseLexicon('Kokoro=/kˈOkəɹO/\ncharge=/tʃɑɹdʒ/\nrye=/ˈraɪ/')
  expect(speak('Kokoro', 'american', lexicon)).toBe('kˈOkəɹO.')
  expect(speak("Kokoro's charge's", 'american', lexicon)).toBe('kˈOkəɹOz ʧɑɹʤᵻz.')
  expect(speak('rye', 'american', lexicon)).toBe('ɹˈI.')
})

test('phonemes written in the text are spoken, and the text keeps its positions', () => {
  const text = "Say [Kokoro](/kˈOkəɹO/)'s name, [docs](/docs/) and pre[fix](/fˈɪks/)ed."
  const { text: replaced, lexicon } = takeOverrides(text, emptyLexicon)
  expect(countChars(replaced)).toBe(countChars(text))
  expect(speak(replaced, 'american', lexicon)).toMatch(/^sˈA kˈOkəɹOz nˈAm, dˈɑks ænd .* fˈɪks /)
  expect(takeOverrides('none', lexicon)).toEqual({ text: 'none', lexicon })
})

test('for any text, each word has symbols that the voices know, and positions rise to the end', () =>
  forEachSeed(200, (random) => {
    const text = randomText(random, random.whole(0, 40))
    const english = new English(pronouncer, random.pick(['american', 'british'] as const))
    let covered = 0
    for (const { words } of sentences(text, emptyLexicon)) {
      expect(words.length).toBeGreaterThan(0)
      for (const [at, spoken] of english.speak(words).entries()) {
        const { opening, mark, end } = words[at] as (typeof words)[number]
        expect(spoken).not.toBe('')
        for (const symbol of opening + spoken + mark) expect(symbolIds.has(symbol)).toBe(true)
        expect(end).toBeGreaterThanOrEqual(covered)
        covered = end
      }
    }
  }))
