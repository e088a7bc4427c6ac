import { expect, test } from 'bun:test'
import { concatFloats } from '../../audio/pcm.ts'
import type { Chunk } from './chunks.ts'
import { Joins } from './joins.ts'

const rateHz = 24_000
/** A voice that is silent for this long, speaks, and is silent again. Its silence has a slight hum and an offset. */
function voice(leadS: number, speechS: number, tailS: number): Float32Array {
  const hum = (at: number) => 0.0005 + 0.0005 * Math.sin(at / 50)
  const [lead, speech] = [leadS * rateHz, speechS * rateHz]
  return Float32Array.from({ length: Math.round(lead + speech + tailS * rateHz) }, (_, at) =>
    at < lead || at >= lead + speech ? hum(at) : 0.4 * Math.sin(at / 20),
  )
}

/** Speaks chunks one after the other, each in two blocks. */
function said(chunks: readonly { pcm: Float32Array; closes: Chunk['closes'] }[]): Float32Array {
  const joins = new Joins(rateHz)
  const parts: Float32Array[] = []
  for (const [index, { pcm, closes }] of chunks.entries()) {
    const middle = pcm.length >> 1
    const isFinal = index === chunks.length - 1
    const give = (block: Float32Array) => {
      joins.note(block)
      parts.push(block)
    }
    give(joins.start(pcm.subarray(0, middle), chunks[index - 1]?.closes ?? null))
    give(joins.end(pcm.subarray(middle), isFinal ? null : closes))
  }
  return concatFloats(parts)
}

/** Seconds between the two loud parts. */
function pauseS(pcm: Float32Array): number {
  const loud = Array.from(pcm, Math.abs).map((level) => level > 0.05)
  const first = loud.indexOf(true)
  let [longest, from] = [0, first]
  for (let at = first; at <= loud.lastIndexOf(true); at++) {
    if (!loud[at]) continue
    longest = Math.max(longest, at - from)
    from = at
  }
  return longest / rateHz
}

const wanted: [Chunk['closes'], number, number, number][] = [
  ['sentence', 0.02, 0.2, 0.2],
  ['sentence', 0.15, 0.3, 0.3],
  ['sentence', 0.4, 0.43, 0.47],
  ['paragraph', 0.1, 0.49, 0.52],
  ['clause', 0.3, 0.13, 0.17],
  ['nothing', 0.2, 0.03, 0.07],
]

test.each(wanted)('a %s: twice %p s of silence becomes a pause of the right length', (closes, silence, min, max) => {
  const pcm = said([
    { pcm: voice(0.1, 0.5, silence), closes },
    { pcm: voice(silence, 0.5, 0.1), closes: 'sentence' },
  ])
  expect(pauseS(pcm)).toBeWithin(min - 0.015, max + 0.015)
})

test('sound without silence at the join is not removed', () => {
  const pcm = said([
    { pcm: voice(0, 0.5, 0), closes: 'nothing' },
    { pcm: voice(0, 0.5, 0), closes: 'sentence' },
  ])
  expect(pcm.length).toBe(rateHz)
})

test('joins never click: every chunk begins and ends at zero, and no step is steeper than the voice', () => {
  for (const closes of ['nothing', 'clause', 'sentence', 'paragraph'] as const) {
    const chunk = { pcm: voice(0, 0.5, 0).map((sample) => sample + 0.2), closes }
    const pcm = said([chunk, chunk, chunk])
    expect(pcm[0]).toBe(0)
    expect(pcm.at(-1)).toBe(0)
    for (let at = 1; at < pcm.length; at++) expect(Math.abs(pcm[at]! - pcm[at - 1]!)).toBeLessThan(0.03)
  }
})

test("the model's own pause stays at the end", () => {
  const pcm = said([{ pcm: voice(0.1, 0.5, 2), closes: 'sentence' }])
  expect(pcm.length).toBe(2.6 * rateHz)
})

test('handles chunks that are entirely silent', () => {
  const silent = { pcm: new Float32Array(rateHz), closes: 'nothing' } as const
  expect(said([silent, silent, silent]).every((sample) => sample === 0)).toBe(true)
})
