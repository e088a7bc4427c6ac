import { expect, test } from 'bun:test'
import { bandsHz } from './spectrum.ts'
import { readState, writeState } from './state.ts'
import { type FliteVoice, voices } from './voices.ts'

const voice: FliteVoice = { ...voices.get('awb')!, formants: 1.09, equalizerDb: bandsHz.map((_, band) => band / 2) }
const refusal = (state: Uint8Array): string => {
  try {
    return `read: ${JSON.stringify(readState(state))}`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
const bytes = (text: string) => new TextEncoder().encode(text)
const changed = (changes: Record<string, unknown>) =>
  bytes(JSON.stringify({ ...(JSON.parse(new TextDecoder().decode(writeState(voice))) as object), ...changes }))

test('what was written is read again, in less than a kilobyte', () => {
  const state = writeState(voice)
  expect(readState(state)).toEqual(voice)
  expect(state.byteLength).toBeLessThan(1024)
  expect(state.buffer.byteLength).toBe(state.byteLength)
})

test('a state of another version is refused by name', () => {
  for (const version of [0, 2, '1', null, undefined]) {
    expect(refusal(changed({ flite: version }))).toBe(
      `this voice was cloned by another version (${String(version)}): clone it again`,
    )
  }
})

test('what is no state of ours at all', () => {
  for (const state of [new Uint8Array(0), Uint8Array.of(0xff, 0xfe, 0), bytes('{'), bytes('hello')]) {
    expect(refusal(state)).toBe('this is not a cloned voice of flite: clone it again')
  }
  for (const text of ['null', '[]', '7', '"x"']) expect(refusal(bytes(text))).toContain('another version (undefined)')
})

test('a damaged one is refused, also where Flite would take another voice without a word', () => {
  const damages: Record<string, unknown>[] = [
    { name: 7 },
    { name: 'bob' },
    { features: null },
    { features: { int_f0_target_mean: '120' } },
    { features: { '-o': 1 } },
    { gainDb: null },
    { formants: 0 },
    { formants: 17 },
    { firstMaxWords: 0 },
    { equalizerDb: null },
    { equalizerDb: [1, 2, 3] },
    { equalizerDb: bandsHz.map(() => 'loud') },
  ]
  for (const damage of damages) {
    expect([damage, refusal(changed(damage))]).toEqual([damage, 'this cloned voice is damaged: clone it again'])
  }
})
