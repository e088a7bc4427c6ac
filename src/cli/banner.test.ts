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
    config: { dataDir: '/data', host: '127.0.0.1' },
    deviceLines: ['cuda:0', 'cpu (cuda:1: it is full)'],
  }
  const lines = Bun.stripANSI(banner(facts)).split('\n')
  const models = lines.find((line) => line.includes('Models'))
  const device = lines.findIndex((line) => line.includes('Device'))
  expect(lines.slice(device, device + 2).map((line) => line.trim())).toEqual([
    'Device    cuda:0',
    'cpu (cuda:1: it is full)',
  ])
  expect(models?.trim()).toMatch(
    /^Models +flite \((\w+, ){3}\w+\), pocket-tts \(\d+ voices\), whisper-base \(transcription\)$/,
  )
})
