import { expect, test } from 'bun:test'
import { decodeFile } from '../audio/decode/clip.ts'
import { cards } from '../catalog/cards.ts'
import { samples } from './samples.ts'

test.each(Object.entries(samples))('%s: a few seconds of sound, as small as they are short', async (family, path) => {
  expect(cards.some((card) => card.family === family && !card.builtIn)).toBeTrue()
  const bytes = await Bun.file(path).bytes()
  const { pcm, sampleRateHz } = await decodeFile(bytes, 60)
  const seconds = pcm.length / sampleRateHz
  expect(seconds).toBeWithin(3, 10)
  expect(bytes.length / seconds).toBeLessThan(6000)
  const loudness = Math.sqrt(pcm.reduce((sum, sample) => sum + sample ** 2, 0) / pcm.length)
  expect(loudness).toBeWithin(0.02, 0.3)
})
