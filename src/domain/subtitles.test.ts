/** An independent parser reads them back: what was said, when, and no character that would confuse a parser. */
import { describe, expect, test } from 'bun:test'
import { parse } from '@plussub/srt-vtt-parser'
import { forEachSeed } from '../testing/seeded.ts'
import { srt, vtt } from './subtitles.ts'
import type { TranscriptSegment, TranscriptWord } from './transcript.ts'

const segment = (startMs: number, endMs: number, text: string, words: TranscriptWord[] | null = null) =>
  ({ startMs, endMs, text, words }) as TranscriptSegment

const hourMs = 3_600_000

test('SubRip, exactly', () => {
  const segments = [segment(0, 1234, ' Good morning.'), segment(hourMs + 61_005, hourMs + 62_999.6, ' And --> now?')]
  expect(srt(segments)).toBe(
    [
      '1',
      '00:00:00,000 --> 00:00:01,234',
      'Good morning.',
      '',
      '2',
      '01:01:01,005 --> 01:01:03,000',
      'And -> now?',
      '',
    ].join('\n'),
  )
})

test('WebVTT, exactly', () => {
  const segments = [segment(0, 1234, ' Good & <b>early</b>.'), segment(26 * hourMs, 26 * hourMs + 9, ' And --> now?')]
  expect(vtt(segments)).toBe(
    [
      'WEBVTT',
      '',
      '00:00.000 --> 00:01.234',
      'Good &amp; &lt;b&gt;early&lt;/b&gt;.',
      '',
      '26:00:00.000 --> 26:00:00.009',
      'And --&gt; now?',
      '',
    ].join('\n'),
  )
})

test('silence has no cues', () => {
  const silence = [segment(0, 900, '  ')]
  expect([srt([]), vtt([]), srt(silence), vtt(silence)]).toEqual(['\n', 'WEBVTT\n', '\n', 'WEBVTT\n'])
})

/** Each word 400 ms long, with 100 ms of silence after it. */
const spoken = (text: string, startMs = 0): TranscriptSegment => {
  const words = text
    .trim()
    .split(/\s+/)
    .map((word, n) => ({ text: word, startMs: startMs + 500 * n, endMs: startMs + 500 * n + 400, probability: null }))
  return segment(startMs, words.at(-1)!.endMs, text, words)
}

const entriesOf = (text: string) => parse(text).entries.map(({ from, to, text: said }) => ({ from, to, said }))

describe('a long segment', () => {
  const text =
    ' It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness. ' +
    'It was the epoch of belief.'

  test('is cut where sentences or clauses end', () => {
    expect(entriesOf(srt([spoken(text, 1000)]))).toEqual([
      { from: 1000, to: 6900, said: 'It was the best of times, it was the worst of times,' },
      { from: 7000, to: 12_900, said: 'it was the age of wisdom, it was the age of foolishness.' },
      { from: 13_000, to: 15_900, said: 'It was the epoch of belief.' },
    ])
  })

  test('stays whole without word times, and when the words are not its own', () => {
    const whole = [{ from: 0, to: 15_000, said: text.trim() }]
    expect(entriesOf(srt([segment(0, 15_000, text)]))).toEqual(whole)
    expect(entriesOf(srt([segment(0, 15_000, text, [])]))).toEqual(whole)
    expect(entriesOf(srt([{ ...spoken(text), endMs: 15_000, text: 'elsewhere' }]))).toEqual([
      { from: 0, to: 15_000, said: 'elsewhere' },
    ])
  })

  test('without spaces is cut between its words', () => {
    const words = [...'天地玄黄宇宙洪荒日月盈昃辰宿列张寒来暑往秋收冬藏'.repeat(2)].map((character, n) => ({
      text: character,
      startMs: 100 * n,
      endMs: 100 * n + 100,
      probability: 1,
    }))
    const characters = words.map((word) => word.text).join('')
    const entries = entriesOf(vtt([segment(0, 4800, characters, words)]))
    expect(entries.map(({ said }) => said.length)).toEqual([42, 6])
    expect(entries.map(({ said }) => said).join('')).toBe(characters)
    expect(entries[1]).toMatchObject({ from: 4200, to: 4800 })
  })

  test('of one endless word is one cue', () => {
    expect(entriesOf(srt([spoken('a'.repeat(500))]))).toEqual([{ from: 0, to: 400, said: 'a'.repeat(500) }])
  })
})

test('for any text, the words come back in order, in readable cues', async () => {
  const syllables = ['yes', 'no,', 'perhaps.', 'a', '-->', '&amp;', '<i>', '12:30', '“Well?”', 'naïve', '日本', '\n\n']
  await forEachSeed(200, (random) => {
    let atMs = random.whole(0, hourMs)
    const segments = Array.from({ length: random.whole(0, 6) }, () => {
      const words = Array.from({ length: random.whole(1, 40) }, () => random.pick(syllables)).join(' ')
      const made = spoken(`${random.chance(0.5) ? ' ' : ''}${words} end`, atMs)
      atMs = made.endMs + random.whole(0, 3000)
      return random.chance(0.3) ? { ...made, words: null } : made
    })
    const said = segments.map(({ text }) => text.trim().replace(/\s+/g, ' ')).join(' ')
    const subRip = entriesOf(srt(segments))
    expect(subRip.map((entry) => entry.said).join(' ')).toBe(said.replaceAll('-->', '->'))
    const webVtt = entriesOf(vtt(segments))
    const unescaped = webVtt.map((entry) => entry.said.replace(/&(lt|gt|amp);/g, (_, name) => characters[name]!))
    expect(unescaped.join(' ')).toBe(said)
    expect(webVtt.map(({ from, to }) => [from, to])).toEqual(subRip.map(({ from, to }) => [from, to]))
    subRip.forEach(({ from, to }, index) => {
      expect(from).toBeGreaterThanOrEqual(subRip[index - 1]?.to ?? 0)
      expect(to).toBeGreaterThan(from)
    })
  })
})

const characters: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&' }
