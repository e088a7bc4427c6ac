/** `myna models`: what there is to speak with, and what is on this machine. */
import { Command } from 'commander'
import { cards } from '../catalog/cards.ts'
import { CardCatalog } from '../catalog/catalog.ts'
import type { Card } from '../domain/card.ts'
import { bytes, count } from './format.ts'
import { globalsOf } from './globals.ts'
import { table } from './table.ts'
import { bold, Failure, report } from './terminal.ts'

export function modelsCommand(): Command {
  return new Command('models')
    .description('list and show models')
    .addHelpText(
      'after',
      `
Without a model named, a request is spoken by the installed one that comes first in the list.

Examples:
  myna models list
  myna models show ${cards[0]?.id}`,
    )
    .addCommand(listCommand())
    .addCommand(showCommand())
}

/** Only what is built in: this version installs nothing. */
const catalog = new CardCatalog(cards, () => false)

const listCommand = (): Command =>
  new Command('list')
    .alias('ls')
    .description('every known model')
    .action((_options, command: Command) => {
      const { json } = globalsOf(command)
      const order = [...catalog.cards()].sort(
        (a, b) => Number(catalog.isInstalled(b.id)) - Number(catalog.isInstalled(a.id)) || b.preference - a.preference,
      )
      report(json, order.map(withInstalled), () => modelTable(order))
    })

const showCommand = (): Command =>
  new Command('show')
    .description('all about one model: languages, voices, licence')
    .argument('<id>', 'as myna models list names it')
    .action((id: string, _options, command: Command) => {
      const { json } = globalsOf(command)
      const card = catalog.cards().find((known) => known.id === id)
      if (card === undefined) {
        throw new Failure(`There is no model '${id}'. The models: myna models list`, 'model_not_found')
      }
      report(json, withInstalled(card), () => cardText(card))
    })

const withInstalled = (card: Card) => ({ ...card, installed: catalog.isInstalled(card.id) })

const installed = (card: Card): string => (card.builtIn ? 'built in' : catalog.isInstalled(card.id) ? 'yes' : 'no')

function modelTable(order: readonly Card[]): string {
  const columns = [
    { title: 'ID' },
    { title: 'TASK' },
    { title: 'INSTALLED' },
    { title: 'MEMORY', right: true },
    { title: 'VOICES', right: true },
    { title: 'LANGUAGES' },
    { title: 'LICENCE' },
  ]
  const rows = order.map((card) => [
    card.id,
    card.task,
    installed(card),
    bytes(card.memoryBytes),
    String(card.voices.length),
    card.languages.join(' '),
    card.license.name,
  ])
  return table(columns, rows)
}

function cardText(card: Card): string {
  const facts = [
    ['Id', card.id],
    ['Task', card.task],
    ['Installed', installed(card)],
    ['Memory', `${bytes(card.memoryBytes)} once loaded`],
    ['Rate', `${count(card.sampleRateHz)} Hz`],
    ['Languages', card.languages.join(', ')],
    ['Licence', card.license.name],
    ['', card.license.attribution],
    ...(card.license.limits === null ? [] : [['', card.license.limits]]),
  ]
  const lines = facts.map(([name = '', value = '']) => `${`${name}`.padEnd(11)}${value}`)
  const voices = card.voices.map((voice) => [
    voice.id,
    voice.language,
    namesOf(card, voice.id) || '-',
    `${voice.name}: ${voice.description}`,
  ])
  const titles = ['VOICE', 'LANGUAGE', 'ALSO KNOWN AS', 'ABOUT'].map((title) => ({ title }))
  const voiceTable = card.voices.length === 0 ? [] : ['', table(titles, voices)]
  return [bold(card.name), card.description, '', ...lines, ...voiceTable].join('\n')
}

const namesOf = (card: Card, voiceId: string): string =>
  Object.entries(card.voiceAliases)
    .filter(([, id]) => id === voiceId)
    .map(([alias]) => alias)
    .join(' ')
