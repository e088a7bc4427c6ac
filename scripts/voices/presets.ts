/** The built-in voices beside one another. The first is the graph's own; the others are shaped out of it. */
import { concatFloats, fromS16 } from '../../src/audio/pcm.ts'
import { measurePitch } from '../../src/audio/pitch.ts'
import { readWav } from '../../src/audio/wav.ts'
import { cards } from '../../src/catalog/cards.ts'
import { printTable } from '../bench/figures.ts'
import type { Peer } from '../real/peer.ts'
import type { Server } from './server.ts'
import { cosine, shown, type Speech, spoken } from './speech.ts'
import { texts } from './texts.ts'

/** What a difference is given with: 95 % of a normal distribution. */
const confidence = 1.96

export async function measureVoices(server: Server, ear: Peer): Promise<void> {
  const card = cards.find(({ id }) => id === 'hibari')!
  // Whatever is slow the first time.
  await server.speak(card.id, card.voices[0]!.id, 'One.')
  const all = new Map<string, Speech & { hz: number }>()
  for (const { id } of card.voices) {
    const speech = await spoken(server, ear, { model: card.id, voice: id, texts })
    all.set(id, { ...speech, hz: await pitchOf(speech.paths) })
    console.error(`${id}: ${shown(speech.ovr)}, ${speech.misheard.toFixed(1)} % misheard: ${errorsOf(speech)}`)
  }
  const unshaped = all.get(card.voices[0]!.id)!
  const rows = [...all].map(([id, speech]) => {
    const others = [...all].filter(([other]) => other !== id)
    const [nearest, like] = others
      .map(([other, { embedding }]) => [other, cosine(embedding, speech.embedding)] as const)
      .reduce((a, b) => (b[1] > a[1] ? b : a))
    return [
      id,
      Math.round(speech.hz),
      shown(speech.ovr),
      speech === unshaped ? '' : soundDifference(unshaped, speech),
      `${speech.found.reduce((sum, { errors }) => sum + errors.length, 0)}`,
      speech.misheard.toFixed(2),
      speech === unshaped ? '' : wordsDifference(unshaped, speech),
      `${like.toFixed(3)}, ${nearest}`,
      Math.round(speech.cpuMsPerS),
    ]
  })
  const words = unshaped.found.reduce((sum, one) => sum + one.words, 0)
  printTable(`The built-in voices: ${texts.length} sentences, ${words} words`, [
    ['voice', 'median Hz', 'DNSMOS', 'less', 'misheard', 'in %', 'more', 'most alike', 'CPU ms a second'],
    ...rows,
  ])
}

const errorsOf = ({ found }: Speech): string =>
  found.flatMap(({ errors }) => errors.map(({ said, heard }) => `${said || '-'} > ${heard || '-'}`)).join(', ')

/** How much lower DNSMOS is, of windows of nine seconds. */
function soundDifference({ windows: before }: Speech, { windows: after }: Speech): string {
  if (after.length === 0) return '-'
  const half = confidence * Math.sqrt(variance(before) / before.length + variance(after) / after.length)
  return `${(mean(before) - mean(after)).toFixed(2)} ± ${half.toFixed(2)}`
}

/** How many words more of a hundred are misheard. Each sentence is compared with itself: some are hard in any voice. */
function wordsDifference({ found: before }: Speech, { found: after }: Speech): string {
  const more = after.map(({ errors }, at) => errors.length - before[at]!.errors.length)
  const percent = 100 / mean(after.map(({ words }) => words))
  const half = confidence * Math.sqrt(variance(more) / more.length)
  return `${(percent * mean(more)).toFixed(2)} ± ${(percent * half).toFixed(2)}`
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

function variance(values: readonly number[]): number {
  const middle = mean(values)
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0) / (values.length - 1)
}

async function pitchOf(paths: readonly string[]): Promise<number> {
  const sounds: Float32Array[] = []
  let rateHz = 0
  for (const path of paths) {
    const { pcm, sampleRateHz } = readWav(await Bun.file(path).bytes())
    sounds.push(fromS16(pcm))
    rateHz = sampleRateHz
  }
  return (await measurePitch(concatFloats(sounds), rateHz, async () => {}))?.medianHz ?? 0
}
