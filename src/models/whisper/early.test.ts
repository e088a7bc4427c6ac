import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { concatS16, fromS16 } from '../../audio/pcm.ts'
import type { TranscriptSegment } from '../../domain/transcript.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { speech } from '../../testing/speech-clips.ts'
import type { Rules } from './decode.ts'
import { writeSmallModel } from './model.fixture.ts'
import { openWhisper } from './pipeline.ts'
import { Transcription, type Whisper } from './transcribe.ts'

setDefaultTimeout(60_000)

const never = new AbortController().signal
const lenient: Rules = {
  temperatures: [0],
  maxCompressionRatio: null,
  minAvgLogprob: null,
  maxNoSpeechProb: null,
  salvages: false,
  finishes: false,
}

let whisper: Whisper
let pcm: Float32Array
beforeAll(async () => {
  whisper = await openWhisper(await writeSmallModel(temporaryFolder()), 1)
  const one = await speech('It rained for days, and nobody went out before the sun came back.', 'kal16')
  pcm = fromS16(concatS16([one, one, one, one]))
})
afterAll(() => whisper.graphs.release())

async function hear(rules: Rules, words = false) {
  const told: TranscriptSegment[][] = []
  const options = { task: 'transcribe', language: 'en', prompt: null, words, rules } as const
  const returned = await new Transcription(whisper, options).hear(pcm, never, (segments) => told.push([...segments]))
  return { told, returned }
}

const said = ({ text, startMs, endMs, tokens }: TranscriptSegment) => ({ text, startMs, endMs, tokens })

test('segments are reported as they end, before the window is finished, and equal the returned ones', async () => {
  const { told, returned } = await hear(lenient)
  expect(told.length).toBeGreaterThan(1)
  expect(told.flat().map(said)).toEqual(returned.map(said))
  // Reporting does not change the result.
  const { returned: untold } = await hear({ ...lenient, temperatures: [0.0001] })
  expect(returned.slice(0, 3).map(said)).toEqual(untold.slice(0, 3).map(said))
})

test('reported segments are kept when the rest is not good enough, and the rest is transcribed again', async () => {
  let cut = 0
  const { returned: whole } = await hear(lenient)
  for (const maxCompressionRatio of [1.5, 2, 2.5, 3, 4, 6]) {
    const { told, returned } = await hear({ ...lenient, temperatures: [0, 0.6], maxCompressionRatio })
    expect(told.flat().map(said)).toEqual(returned.map(said))
    if (!Bun.deepEquals(returned.map(said), whole.map(said))) cut++
  }
  expect(cut).toBeGreaterThan(0)
})

test('with word times, a window is reported once it is finished', async () => {
  const { told, returned } = await hear(lenient, true)
  expect(told.flat()).toEqual(returned)
})
