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

export async function measureVoices(server: Server, ear: Peer): Promise<void> {
  const card = cards.find(({ id }) => id === 'hibari')!
  // Whatever is slow the first time.
  await server.speak(card.id, card.voices[0]!.id, 'One.')
  const all = new Map<string, Speech & { hz: number }>()
  for (const { id } of card.voices) {
    const speech = await spoken(server, ear, { model: card.id, voice: id, texts })
    all.set(id, { ...speech, hz: await pitchOf(speech.paths) })
    console.error(`${id}: ${shown(speech.ovr)}, ${speech.misheard.toFixed(1)} % misheard`)
  }
  const rows = [...all].map(([id, { embedding, ovr, misheard, hz, cpuMsPerS }]) => {
    const others = [...all].filter(([other]) => other !== id)
    const [nearest, like] = others
      .map(([other, speech]) => [other, cosine(embedding, speech.embedding)] as const)
      .reduce((a, b) => (b[1] > a[1] ? b : a))
    return [
      id,
      Math.round(hz),
      shown(ovr),
      misheard.toFixed(1),
      `${like.toFixed(2)}, ${nearest}`,
      Math.round(cpuMsPerS),
    ]
  })
  const head = ['voice', 'median Hz', 'DNSMOS', 'misheard, %', 'most alike', 'CPU ms a second']
  printTable(`The built-in voices: ${texts.length} sentences`, [head, ...rows])
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
