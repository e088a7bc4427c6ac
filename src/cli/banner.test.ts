import { expect, test } from 'bun:test'
import { cards } from '../catalog/cards.ts'
import { CardCatalog } from '../catalog/catalog.ts'
import { banner } from './banner.ts'

test('the banner says which models there are and what they can do, in a line that can be read', () => {
  const here = ['pocket-tts', 'whisper-base']
  const facts = {
    version: '1.2.3',
    server: { url: 'http://127.0.0.1:8790', firstKey: null },
    catalog: new CardCatalog(cards, (id) => here.includes(id)),
    config: { dataDir: '/data', device: 'auto', host: '127.0.0.1' },
  }
  const models = Bun.stripANSI(banner(facts))
    .split('\n')
    .find((line) => line.includes('Models'))
  expect(models?.trim()).toMatch(
    /^Models +flite \((\w+, ){3}\w+\), pocket-tts \(\d+ voices\), whisper-base \(transcription\)$/,
  )
})
