/** The first thing a person sees: where to point a client, and the one command that makes a sound. */
import { homedir, networkInterfaces } from 'node:os'
import type { CardCatalog } from '../../catalog/catalog.ts'
import type { Config } from '../../config.ts'
import type { Card } from '../../domain/card.ts'
import type { Server } from './server.ts'
import { bold, dim, yellow } from '../terminal/terminal.ts'

export interface BannerFacts {
  version: string
  server: Pick<Server, 'url' | 'firstKey' | 'signInPath' | 'adminRemedy' | 'wyoming'>
  /** The file that has the first key, because what is printed here is kept; null: it is shown. */
  keyFile: string | null
  catalog: CardCatalog
  config: Pick<Config, 'dataDir' | 'host' | 'publicUrl'>
  /** Whether a person looks: what is printed elsewhere is kept, and a link that signs in must not be. */
  isTerminal: boolean
  /** Where models run, one line per device. */
  deviceLines: readonly string[]
  /** Addresses of this machine on its networks, for a server that is open to them. */
  addresses?: readonly string[]
}

/** IPv4 addresses that other machines of the network may reach. */
const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((all = []) =>
    all.filter(({ family, internal }) => family === 'IPv4' && !internal).map(({ address }) => address),
  )

export function banner(facts: BannerFacts): string {
  const { version, server, keyFile, catalog, config, isTerminal, deviceLines, addresses = ownAddresses() } = facts
  const isOpen = config.host === '0.0.0.0' || config.host === '::'
  const installed = catalog.cards().filter((card) => catalog.isInstalled(card.id))
  const row = (name: string, value: string) => `  ${dim(name.padEnd(9))} ${value}`
  const models = installed.map((card) => `${card.id} ${dim(`(${abilityOf(card)})`)}`)
  const lines = [
    '',
    `  ${bold('myna')} ${version}  ${dim('self-hosted voice')}`,
    '',
    row('API', bold(`${server.url}/v1`)),
    ...(isOpen ? addresses.map((address) => row('', `${server.url.replace('127.0.0.1', address)}/v1`)) : []),
    row('Console', server.url),
    row('Docs', `${server.url}/docs`),
    ...(server.wyoming === null ? [] : [row('Wyoming', `${server.wyoming.host}:${server.wyoming.port}`)]),
    ...deviceLines.map((line, at) => row(at === 0 ? 'Device' : '', line)),
    row('Models', models.join(', ')),
    ...worthPulling(installed).map((line) => row('', dim(line))),
    row('Data', config.dataDir.replace(new RegExp(`^${homedir()}(?=/)`), '~')),
    '',
  ]
  if (isOpen) lines.push(yellow('  Open to the network: every client needs a key.'), '')
  if (server.wyoming !== null && !loopbacks.includes(server.wyoming.host))
    lines.push(yellow('  Wyoming has no keys: everyone who reaches its port can use it.'), '')
  const [firstAddress] = isOpen ? addresses : []
  const local = firstAddress === undefined ? server.url : server.url.replace('127.0.0.1', firstAddress)
  const link = isTerminal ? linkLines(server.signInPath, config.publicUrl || local) : []
  return `${[...lines, ...link, ...keyLines(server, keyFile)].join('\n')}\n`
}

const loopbacks = ['127.0.0.1', '::1', 'localhost']

/** What a new machine cannot do yet, and the smallest model that does it well enough. */
function worthPulling(installed: readonly Card[]): string[] {
  const clones = installed.some(({ cloning }) => cloning === 'full')
  const transcribes = installed.some((card) => card.task === 'automatic-speech-recognition' && !card.builtIn)
  return [
    ...(clones ? [] : ['for true voice clones: myna models pull pocket-tts']),
    ...(transcribes ? [] : ['to transcribe other languages: myna models pull whisper-base']),
  ]
}

/** A longer list of names would not be read here. */
const voicesNamed = 4

function abilityOf({ voices }: Card): string {
  if (voices.length === 0) return 'transcription'
  return voices.length <= voicesNamed ? voices.map(({ id }) => id).join(', ') : `${voices.length} voices`
}

/** A machine without a screen is reached by its address on the network. */
const linkLines = (signInPath: string | null, url: string): string[] =>
  signInPath === null
    ? []
    : [`  ${bold('Open the console')}, signed in (works once, for ten minutes):`, '', `    ${url}${signInPath}`, '']

function keyLines({ url, firstKey, adminRemedy }: BannerFacts['server'], keyFile: string | null): string[] {
  if (adminRemedy !== null) return [yellow('  There is no active administrator. Create one:'), `    ${adminRemedy}`, '']
  if (keyFile !== null)
    return [`  ${bold('Your administrator key')} is in ${keyFile}: copy it, then delete the file.`, '']
  if (firstKey === null) return [dim('  Another key: myna keys create --account NAME'), '']
  return [
    `  ${bold('Your administrator key')}, shown only now:`,
    '',
    `    ${firstKey.secret}`,
    '',
    '  Hear it:',
    '',
    `    curl ${url}/v1/audio/speech -o hello.mp3 \\`,
    `      -H "Authorization: Bearer ${firstKey.secret}" \\`,
    `      -d '{"input": "Hello. This is your own voice service."}'`,
    '',
  ]
}
