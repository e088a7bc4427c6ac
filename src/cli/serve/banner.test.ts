import { expect, test } from 'bun:test'
import { cards } from '../../catalog/cards.ts'
import { CardCatalog } from '../../catalog/catalog.ts'
import { banner } from './banner.ts'

const factsOf = (here: readonly string[]) => ({
  version: '1.2.3',
  server: { url: 'http://127.0.0.1:8790', firstKey: null, signInPath: null, adminRemedy: null, wyoming: null },
  catalog: new CardCatalog(cards, ({ id }) => here.includes(id)),
  keyFile: null,
  config: { dataDir: '/data', host: '127.0.0.1', publicUrl: '' },
  isTerminal: true,
  deviceLines: ['cuda:0', 'cpu (cuda:1: it is full)'],
})
const linesOf = (here: readonly string[]) => Bun.stripANSI(banner(factsOf(here))).split('\n')

test('the banner lists the models and what they can do, in a readable line', () => {
  const lines = linesOf(['pocket-tts', 'whisper-base'])
  const models = lines.find((line) => line.includes('Models'))
  const device = lines.findIndex((line) => line.includes('Device'))
  expect(lines.slice(device, device + 2).map((line) => line.trim())).toEqual([
    'Device    cuda:0',
    'cpu (cuda:1: it is full)',
  ])
  expect(models?.trim().split(/\), |Models +/)).toEqual([
    '',
    'hibari (6 voices',
    'moonshine-tiny-en (transcription',
    expect.stringMatching(/^pocket-tts \(\d+ voices$/),
    'whisper-base (transcription)',
  ])
})

test('the banner says how to get what is missing, and where the console is', () => {
  const lines = linesOf([]).map((line) => line.trim())
  const after = lines.findIndex((line) => line.startsWith('Models')) + 1
  expect(lines.slice(after, after + 2)).toEqual([
    'for true voice clones: myna models pull pocket-tts',
    'to transcribe other languages: myna models pull whisper-base',
  ])
  expect(lines).toContain('Console   http://127.0.0.1:8790')
  expect(linesOf(['pocket-tts', 'whisper-base']).join('\n')).not.toContain('models pull')
})

test('the banner names the Wyoming address, and warns if other machines can reach it', () => {
  const bannerOf = (host: string) => {
    const facts = factsOf([])
    return Bun.stripANSI(banner({ ...facts, server: { ...facts.server, wyoming: { host, port: 10_300 } } }))
  }
  expect(bannerOf('127.0.0.1')).toContain('Wyoming   127.0.0.1:10300')
  expect(bannerOf('127.0.0.1')).not.toContain('has no keys')
  expect(bannerOf('0.0.0.0')).toContain('Wyoming has no keys')
})

test('the banner says how to get an administrator if there is none', () => {
  const facts = factsOf([])
  const adminRemedy = 'myna accounts enable admin'
  const lines = Bun.stripANSI(banner({ ...facts, server: { ...facts.server, adminRemedy } })).split('\n')
  const at = lines.indexOf('  There is no active administrator. Create one:')
  expect(lines[at + 1]?.trim()).toBe(adminRemedy)
})

test('a server that is open to the network shows the addresses that others can use', () => {
  const facts = {
    ...factsOf([]),
    config: { dataDir: '/data', host: '0.0.0.0', publicUrl: '' },
    addresses: ['192.168.1.7', '10.0.0.2'],
  }
  const lines = Bun.stripANSI(banner(facts)).split('\n')
  const at = lines.findIndex((line) => line.includes('API'))
  expect(lines.slice(at, at + 3).map((line) => line.trim())).toEqual([
    'API       http://127.0.0.1:8790/v1',
    'http://192.168.1.7:8790/v1',
    'http://10.0.0.2:8790/v1',
  ])
  expect(Bun.stripANSI(banner({ ...facts, config: { ...facts.config, host: '127.0.0.1' } }))).not.toContain(
    '192.168.1.7',
  )
})

test('a sign-in link is shown to a person at a terminal, with the address that leads here', () => {
  const facts = factsOf([])
  const bannerOf = (change: Partial<typeof facts.config>, isTerminal = true) => {
    const server = { ...facts.server, signInPath: '/console#sign-in=abc' }
    const config = { ...facts.config, ...change }
    return Bun.stripANSI(banner({ ...facts, server, config, isTerminal, addresses: ['192.168.1.7'] }))
  }
  expect(bannerOf({})).toContain('\n    http://127.0.0.1:8790/console#sign-in=abc\n')
  expect(bannerOf({ host: '0.0.0.0' })).toContain('\n    http://192.168.1.7:8790/console#sign-in=abc\n')
  expect(bannerOf({ publicUrl: 'https://voice.example' })).toContain('\n    https://voice.example/console#sign-in=abc')
  expect(bannerOf({}, false)).not.toContain('sign-in')
})
