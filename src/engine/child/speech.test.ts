import { expect, test } from 'bun:test'
import type { SpeechInput, SpeechModel, SpokenChunk } from '../../models/architecture.ts'
import { speech } from './speech.ts'

const rateHz = 1000
const input: SpeechInput = {
  text: '',
  voiceId: 'one',
  voiceState: null,
  speed: 1,
  language: null,
  instructions: null,
  seed: null,
}

/** Speaks each word as ten samples of 1, and nothing where there is no letter. */
const model: SpeechModel = {
  sampleRateHz: rateHz,
  async *speak({ text }, signal) {
    for (const word of text.matchAll(/\p{L}+/gu)) {
      if (signal.aborted) return
      const covered = Array.from(text.slice(0, word.index + word[0].length)).length
      yield { pcm: new Float32Array(10).fill(1), coveredChars: covered }
    }
  },
  unload: async () => {},
} as SpeechModel

async function spoken(text: string, signal = new AbortController().signal): Promise<[number, number, number][]> {
  const chunks: SpokenChunk[] = []
  for await (const chunk of speech(model, { ...input, text }, signal)) chunks.push(chunk)
  return chunks.map(({ pcm, coveredChars }) => [pcm.length, Math.max(...pcm), coveredChars])
}

test('a pause is silence of its length, and coverage counts its letters', async () => {
  expect(await spoken('One two[pause:1.5s] three')).toEqual([
    [10, 1, 3],
    [10, 1, 7],
    [1500, 0, 19],
    [10, 1, 25],
  ])
})

test('a text without speakable content is a moment of silence that covers all of it', async () => {
  for (const text of ['🎉🎉', '...', '!?']) expect(await spoken(text)).toEqual([[100, 0, [...text].length]])
})

test('a pause alone gives just that pause', async () => {
  expect(await spoken('[pause:200ms]')).toEqual([[200, 0, 13]])
})

test('a cancelled order gets no silence', async () => {
  const abort = new AbortController()
  abort.abort()
  expect(await spoken('...', abort.signal)).toEqual([])
})

test('what is the last of one stretch is not the last of all', async () => {
  const known: SpeechModel = {
    ...model,
    async *speak(order, signal) {
      for await (const chunk of model.speak(order, signal)) yield { ...chunk, isLast: true }
    },
  }
  const chunks = await Array.fromAsync(
    speech(known, { ...input, text: 'One[pause:1s] two' }, new AbortController().signal),
  )
  expect(chunks.map(({ isLast = false }) => isLast)).toEqual([false, false, true])
})

test('what is the last but one of one stretch is not the last but one of all', async () => {
  const known: SpeechModel = {
    ...model,
    async *speak(order, signal) {
      for await (const chunk of model.speak(order, signal)) yield { ...chunk, isLastNext: true }
    },
  }
  const text = 'One[pause:1s] two'
  const chunks = await Array.fromAsync(speech(known, { ...input, text }, new AbortController().signal))
  expect(chunks.map(({ isLastNext = false }) => isLastNext)).toEqual([false, false, true])
})
