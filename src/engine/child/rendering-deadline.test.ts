/** A rendering beside the schedule: which claims it makes while its reader takes sound at the pace of a player. */
import { expect, test } from 'bun:test'
import type { Claim } from '../../domain/schedule.ts'
import type { SpeechModel } from '../../models/architecture.ts'
import { until } from '../../testing/until.ts'
import { creditFrames, frameMsMax } from '../protocol.ts'
import { Rendering } from './rendering.ts'
import { Turns } from './turns.ts'

const rateHz = 8000
const chunkMs = 1000
const chunks = 60

const model: SpeechModel = {
  sampleRateHz: rateHz,
  async *speak() {
    for (let n = 1; n <= chunks; n++) {
      yield { pcm: new Float32Array((chunkMs * rateHz) / 1000), coveredChars: Math.min(n, 3) }
    }
  },
  unload: async () => {},
}

class NotedTurns extends Turns {
  readonly claims: Claim[] = []

  override take<T>(...given: Parameters<typeof Turns.prototype.take<T>>): ReturnType<typeof Turns.prototype.take<T>> {
    this.claims.push(given[0])
    return super.take(...given)
  }
}

test('a stream whose reader has a small buffer is due when that buffer is played, however long it lasts', async () => {
  let nowMs = 0
  const timers = { monotonicMs: () => nowMs }
  const turns = new NotedTurns(1, timers)
  let frames = 0
  const rendering = new Rendering({
    input: { voiceId: 'v', text: 'abc', voiceState: null, speed: 1, language: null, instructions: null, seed: null },
    sampleRateHz: rateHz,
    wordTimes: false,
    credits: creditFrames,
    skipSamples: 0,
    share: 'account',
    acquire: async () => ({ model, release: () => {} }),
    turns,
    timers,
    send: (together) => (frames += together.length),
    onStep: () => {},
  })
  const ended = rendering.run()
  // A frame is played, and the reader takes one more.
  for (let played = 0; frames < (chunks * chunkMs) / frameMsMax; played++) {
    await until('as many frames as were granted', () => frames === Math.min(creditFrames + played, 300))
    const aheadMs = (turns.claims.at(-1)?.dueMs ?? nowMs) - nowMs
    expect(aheadMs).toBeLessThanOrEqual(creditFrames * frameMsMax)
    nowMs += frameMsMax
    rendering.grant(1)
  }
  await ended
  expect(turns.claims.length).toBeGreaterThanOrEqual(chunks)
})
