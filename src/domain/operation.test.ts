import { describe, expect, test } from 'bun:test'
import { expiresAtMs, releasesKey, type SpeechEnding, settleCrashed, settleSpeech } from './operation.ts'

const rateHz = 24000
const ending = (change: Partial<SpeechEnding> = {}): SpeechEnding => ({
  audioSent: true,
  cancelRequested: false,
  failure: null,
  clientGone: false,
  priceMicros: 1500,
  inputChars: 100,
  coveredChars: 100,
  pcmBytes: 48000,
  ...change,
})
const failure = { code: 'generation_failed', message: 'no' }

describe('how a speech request ends', () => {
  const cases: [string, Partial<SpeechEnding>, string, number][] = [
    ['all handed over', {}, 'completed', 1500],
    ['engine failed before audio', { failure, audioSent: false, coveredChars: 0, pcmBytes: 0 }, 'failed', 0],
    ['engine failed after audio', { failure, coveredChars: 50 }, 'stream_failed', 0],
    ['client gone half way', { clientGone: true, coveredChars: 50 }, 'stream_failed', 750],
    [
      'client gone, rounded up',
      { clientGone: true, coveredChars: 1, inputChars: 7, priceMicros: 105 },
      'stream_failed',
      15,
    ],
    ['client gone before audio', { clientGone: true, audioSent: false, coveredChars: 0 }, 'stream_failed', 0],
    ['client gone, nothing taken', { clientGone: true, coveredChars: 0, pcmBytes: 0 }, 'stream_failed', 0],
    ['cancelled half way', { cancelRequested: true, coveredChars: 50 }, 'cancelled', 750],
    ['cancelled before audio', { cancelRequested: true, audioSent: false, coveredChars: 0 }, 'cancelled', 0],
    ['cancel wins over failure', { cancelRequested: true, failure, coveredChars: 50 }, 'cancelled', 750],
    ['failure wins over client gone', { clientGone: true, failure, coveredChars: 50 }, 'stream_failed', 0],
    ['cancel wins over client gone', { clientGone: true, cancelRequested: true, coveredChars: 20 }, 'cancelled', 300],
    ['coverage never charges above the price', { clientGone: true, coveredChars: 900 }, 'stream_failed', 1500],
  ]
  test.each(cases)('%s', (_, facts, outcome, charged) => {
    const settlement = settleSpeech(ending(facts), rateHz)
    expect(settlement.outcome).toBe(outcome as typeof settlement.outcome)
    expect(settlement.chargedMicros).toBe(charged)
    expect(settlement.completionBytes).toBe(outcome === 'completed' ? 48000 : null)
    expect(settlement.usedChars > 0).toBe(charged > 0)
    expect(releasesKey(settlement)).toBe(outcome !== 'completed' && charged === 0)
  })

  test('the share is computed in whole numbers: each character costs its price and never a micro more', () => {
    for (let inputChars = 1; inputChars <= 300; inputChars++) {
      for (let coveredChars = 1; coveredChars <= inputChars; coveredChars++) {
        const facts = ending({ clientGone: true, inputChars, coveredChars, priceMicros: inputChars * 15 })
        const { chargedMicros } = settleSpeech(facts, rateHz)
        // Not expect(): 45,000 of them would take a second.
        if (chargedMicros !== coveredChars * 15) throw new Error(`${coveredChars} of ${inputChars}: ${chargedMicros}`)
      }
    }
  })

  test('no combination of facts charges more than the price, or anything for our own fault', () => {
    const both = [false, true]
    for (const audioSent of both)
      for (const cancelRequested of both)
        for (const failed of both)
          for (const clientGone of both) {
            const facts = ending({
              audioSent,
              cancelRequested,
              failure: failed ? failure : null,
              clientGone,
            })
            const { outcome, chargedMicros, error } = settleSpeech(facts, rateHz)
            expect(chargedMicros).toBeLessThanOrEqual(1500)
            if (cancelRequested) expect(outcome).toBe('cancelled')
            else if (failed) expect([chargedMicros, error]).toEqual([0, failure])
            else expect(outcome).toBe(clientGone ? 'stream_failed' : 'completed')
            if (!audioSent && outcome !== 'completed') expect(chargedMicros).toBe(0)
          }
  })
})

test('a crash is recognised from the time stamps that were committed before it, and costs nothing', () => {
  const outcomeOf = (startedAtMs: number | null, firstAudioAtMs: number | null) => {
    const settlement = settleCrashed({ startedAtMs, firstAudioAtMs })
    expect(settlement.chargedMicros).toBe(0)
    return settlement.outcome
  }
  expect(outcomeOf(null, null)).toBe('not_accepted')
  expect(outcomeOf(1, null)).toBe('failed')
  expect(outcomeOf(1, 2)).toBe('stream_failed')
})

test('records with a supplied key live 24 hours from creation, others one hour from settlement', () => {
  const hourMs = 3_600_000
  expect(expiresAtMs({ keySupplied: true, createdAtMs: 5, settledAtMs: 9 })).toBe(5 + 24 * hourMs)
  expect(expiresAtMs({ keySupplied: false, createdAtMs: 5, settledAtMs: 9 })).toBe(9 + hourMs)
  expect(expiresAtMs({ keySupplied: true, createdAtMs: 5, settledAtMs: null })).toBeNull()
})
