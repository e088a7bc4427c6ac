/** `myna models`: what there is to speak and to listen with, what is on this machine, and how it gets there. */
import { Command } from 'commander'
import { InstalledModels, type ModelState } from '../../catalog/installed.ts'
import type { Config } from '../../config.ts'
import type { Card } from '../../domain/card.ts'
import { bytes, count, counted } from '../terminal/format.ts'
import { globalsOf } from '../globals.ts'
import { removeCommand, verifyCommand } from './care.ts'
import { allCards, findCard, hubEndpoint, mending, modelsFolder } from './local.ts'
import { importCommand, pullCommand } from './pull.ts'
import { table } from '../terminal/table.ts'
import { bold, report } from '../terminal/terminal.ts'

/** @param cards every model that may be installed */
export function modelsCommand(cards: readonly Card[]): Command {
  return new Command('models')
    .addHelpText(
      'after',
      `
Models come from the Hugging Face hub, each file at a pinned commit and verified by hash.
Interrupted downloads resume. HF_TOKEN opens repositories that require it, HF_ENDPOINT
names a mirror, and import installs files that came by other means.

A request that names no model goes to the installed one that comes first in the list.

Examples:
  myna models list
  myna models show pocket-tts
  myna models pull pocket-tts
  myna models import whisper-base ./whisper-base.zip
  myna models import ./my-export --as my-whisper --like whisper-base
  myna models verify`,
    )
    .addCommand(listCommand(cards))
    .addCommand(showCommand(cards))
    .addCommand(pullCommand(cards))
    .addCommand(importCommand(cards))
    .addCommand(verifyCommand(cards))
    .addCommand(removeCommand(cards))
}

/** A model as this machine has it. */
interface Here {
  card: Card
  state: ModelState
  /** Size of its files; links and blobs count once; 0: none. */
  diskBytes: number
  /** The download size according to its card, and the number of files of unknown size. */
  downloadBytes: number
  unknownSizes: number
}

function here(cards: readonly Card[], config: Config): Here[] {
  const installed = new InstalledModels(modelsFolder(config))
  return cards
    .map((card) => ({
      card,
      state: installed.stateOf(card),
      diskBytes: installed.manifest(card.id)?.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) ?? 0,
      downloadBytes: card.files.reduce((sum, { sizeBytes }) => sum + (sizeBytes ?? 0), 0),
      unknownSizes: card.files.filter(({ sizeBytes }) => sizeBytes === null).length,
    }))
    .sort((a, b) => rank(b.state) - rank(a.state) || b.card.preference - a.card.preference)
}

const rank = (state: ModelState): number => ['absent', 'broken', 'installed'].indexOf(state)

const listCommand = (cards: readonly Card[]): Command =>
  new Command('list')
    .alias('ls')
    .description('list all models')
    .addHelpText(
      'after',
      `
DOWNLOAD ends with + if the sizes of some files are not published.`,
    )
    .action((_options, command: Command) => {
      const { json, config } = globalsOf(command)
      const models = here(allCards(config, cards), config)
      report(json, models.map(asData), () => modelTable(models))
    })

const showCommand = (cards: readonly Card[]): Command =>
  new Command('show')
    .description('show everything about a model: sizes, source, license, languages, voices')
    .argument('<id>', 'model id, as shown by myna models list')
    .action((id: string, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      const [model] = here([findCard(allCards(config, cards), id)], config)
      if (model !== undefined) report(json, asData(model), () => modelText(model, config))
    })

const asData = ({ card, ...facts }: Here) => ({ ...card, installed: facts.state === 'installed', ...facts })

const stateText = ({ card, state }: Here): string =>
  card.builtIn
    ? 'built in'
    : { installed: card.like === undefined ? 'yes' : 'unverified', broken: 'broken', absent: 'no' }[state]

function downloadText({ card, downloadBytes, unknownSizes }: Here): string {
  if (card.files.length === 0 || card.like !== undefined) return '-'
  if (unknownSizes === card.files.length) return '?'
  return bytes(downloadBytes) + (unknownSizes > 0 ? '+' : '')
}

const languagesListed = 4

function modelTable(models: readonly Here[]): string {
  const columns = [
    { title: 'ID' },
    { title: 'TASK' },
    { title: 'INSTALLED' },
    { title: 'DOWNLOAD', right: true },
    { title: 'MEMORY', right: true, leaves: 3 },
    { title: 'VOICES', right: true, leaves: 2 },
    { title: 'LANGUAGES', least: 12 },
    { title: 'LICENSE', leaves: 1 },
  ]
  const rows = models.map((model) => [
    model.card.id,
    model.card.task === 'text-to-speech' ? 'speech' : 'transcription',
    stateText(model),
    downloadText(model),
    bytes(model.card.memoryBytes),
    model.card.voices.length === 0 ? '-' : String(model.card.voices.length),
    languagesText(model.card.languages),
    model.card.license.name,
  ])
  return table(columns, rows)
}

const languagesText = (languages: readonly string[]): string =>
  languages.length <= languagesListed
    ? languages.join(' ')
    : `${languages.slice(0, languagesListed).join(' ')} and ${languages.length - languagesListed} more`

function modelText(model: Here, config: Config): string {
  const { card } = model
  const facts = [
    ['Id', card.id],
    ['Task', card.task],
    ['Installed', installedText(model, config)],
    ...sourceFacts(model),
    ['Memory', `${bytes(card.memoryBytes)} once loaded`],
    ['Rate', `${count(card.sampleRateHz)} Hz`],
    ['Languages', card.languages.join(', ')],
    ['License', card.license.name],
    ['', card.license.attribution],
    ...(card.license.limits === null ? [] : [['Limits', card.license.limits]]),
  ]
  const lines = facts.map(([name = '', value = '']) => `${name.padEnd(11)}${value}`)
  const voices = card.voices.map((voice) => [
    voice.id,
    voice.language,
    namesOf(card, voice.id) || '-',
    `${voice.name}: ${voice.description}`,
  ])
  const titles = [
    { title: 'VOICE' },
    { title: 'LANGUAGE', leaves: 2 },
    { title: 'ALSO KNOWN AS', least: 13, leaves: 1 },
    { title: 'ABOUT', least: 30 },
  ]
  const voiceTable = card.voices.length === 0 ? [] : ['', table(titles, voices)]
  return [bold(card.name), card.description, '', ...lines, ...voiceTable].join('\n')
}

function installedText(model: Here, config: Config): string {
  const { card, state, diskBytes } = model
  if (card.builtIn) return 'built in'
  const place = modelsFolder(config).model(card.id)
  if (state === 'installed') return `${bytes(diskBytes)} in ${place}`
  const get = mending(card)
  return state === 'absent' ? `no; install it with: ${get}` : `incomplete in ${place}; fix it with: ${get}`
}

/** Nothing where the model is inside the program. */
function sourceFacts(model: Here): string[][] {
  const { card, unknownSizes } = model
  if (card.files.length === 0) return []
  if (card.like !== undefined) return [['Source', `your own files, in place of ${card.like}; unverified`]]
  const files = counted(card.files.length, 'file')
  const known = unknownSizes === card.files.length ? files : `${downloadText(model)} in ${files}`
  const unknown = unknownSizes === 0 ? '' : `; the sizes of ${unknownSizes} are not published`
  const places = [...new Set(card.files.map(({ repo, revision }) => `${hubEndpoint()}/${repo} at ${revision}`))]
  return [['Download', known + unknown], ...places.map((place, at) => [at === 0 ? 'Source' : '', place])]
}

const namesOf = (card: Card, voiceId: string): string =>
  Object.entries(card.voiceAliases)
    .filter(([, id]) => id === voiceId)
    .map(([alias]) => alias)
    .join(' ')
