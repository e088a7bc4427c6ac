/**
 * Decides what a name in a request means: a preset or a clone by its id, an alias of the account, one of the server or
 * the model's manifest, or the name of a voice. Another account's voices are never found.
 */
import type { Caller } from '../domain/account.ts'
import type { Card, CardVoice } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import { formerVoices } from '../domain/former-names.ts'
import { isIdOf } from '../domain/id.ts'
import { type Mixture, mixtureId } from '../domain/mixture.ts'
import { canSee, type Voice } from '../domain/voice.ts'
import type { Voices } from './ports.ts'

export interface VoiceNames {
  /** NAME=VOICE_ID, before the aliases of the cards. */
  aliases: ReadonlyMap<string, string>
  defaultVoice: string | null
}

/** `former`: it was found by this name of a voice that is no longer there. */
export type Found = { card: Card; preset: CardVoice; former?: string } | { clone: Voice }

export interface Search {
  caller: Caller
  names: VoiceNames
  voices: Voices
}

/** Looks for a name in one of the ways in which a name can mean a voice. */
type Find = (name: string, cards: readonly Card[], search: Search) => Promise<Found | null>

/**
 * In the first of the ways in which the name means one.
 * @param cards the models it may be of, the preferred first @returns null when it means none
 */
export async function findVoice(name: string, cards: readonly Card[], search: Search): Promise<Found | null> {
  for (const find of [byId, byOwnAlias, byServerAlias, byName, byFormerName]) {
    const found = await find(name, cards, search)
    if (found !== null) return found
  }
  return null
}

const byId: Find = async (name, cards, { caller, voices }) => {
  const preset = presetById(name, cards)
  if (preset !== null) return preset
  const clone = isIdOf('voice', name) ? await voices.find(name) : null
  return clone !== null && canSee(clone, caller) ? { clone } : null
}

const byOwnAlias: Find = async (name, _cards, { caller, voices }) => {
  const clone = await voices.findByAlias(caller.account.id, name)
  return clone === null ? null : { clone }
}

const byServerAlias: Find = async (name, cards, search) => {
  const alias = name.toLowerCase()
  const target = search.names.aliases.get(alias)
  if (target !== undefined) return byId(target, cards, search)
  for (const card of cards) {
    const preset = card.voiceAliases[alias]
    if (preset !== undefined) return presetById(preset, [card])
  }
  return null
}

/** The account's own voices hide public ones of the same name. A name that several voices have is not accepted. */
const byName: Find = async (name, cards, { caller, voices }) => {
  const own = await voices.findByName(caller.account.id, name)
  if (own.length > 0) return theOnly(own)
  for (const card of cards) {
    const same = card.voices.filter((voice) => voice.name.toLowerCase() === name.toLowerCase())
    if (same.length === 1 && same[0] !== undefined) return { card, preset: same[0] }
  }
  return theOnly(await voices.findByName(null, name))
}

const byFormerName: Find = async (name, cards, { names }) => {
  const former = (names.aliases.get(name.toLowerCase()) ?? name).toLowerCase()
  const successor = formerVoices.get(former)
  const found = successor === undefined ? null : presetById(successor, cards)
  return found === null ? null : { ...found, former }
}

/** Ids of the voices that `byName` must choose from; none or one if the name is clear. */
export async function idsCalled(name: string, cards: readonly Card[], { caller, voices }: Search): Promise<string[]> {
  const idsOf = (same: readonly Voice[]) => same.filter(({ status }) => status !== 'failed').map(({ id }) => id)
  const own = idsOf(await voices.findByName(caller.account.id, name))
  if (own.length > 0) return own
  const isSame = (voice: CardVoice) => voice.name.toLowerCase() === name.toLowerCase()
  const presets = cards.flatMap((card) => card.voices.filter(isSame)).map(({ id }) => id)
  return [...presets, ...idsOf(await voices.findByName(null, name))]
}

/** A failed try beside the voice that came of the next one does not count. */
function theOnly(same: readonly Voice[]): Found | null {
  const alive = same.filter(({ status }) => status !== 'failed')
  const [clone, second] = alive.length > 0 ? alive : same
  return clone === undefined || second !== undefined ? null : { clone }
}

function presetById(id: string, cards: readonly Card[]): { card: Card; preset: CardVoice } | null {
  for (const card of cards) {
    const preset = card.voices.find((voice) => voice.id === id)
    if (preset !== undefined) return { card, preset }
  }
  return null
}

// From "bella(2)+sky" to one model and the mixture in its own ids. All voices of a mixture are presets of one model
// that can mix; anything else is an error that says what cannot be mixed, and nothing is left out in silence.
interface Mixed {
  card: Card
  /** As `mixtureId` writes it; a plain id when all parts are one voice. */
  voiceId: string
}

/**
 * @param cards the models that may speak, the preferred first
 * @param find what a name means for some of them
 * @param missing for a name that means nothing to any
 * @throws MynaError `unsupported_value`, or what `missing` makes
 */
export async function mixVoices(
  mixture: Mixture,
  cards: readonly Card[],
  find: (name: string, cards: readonly Card[]) => Promise<Found | null>,
  missing: (name: string) => Promise<MynaError>,
): Promise<Mixed> {
  const models: string[] = []
  for (const { voice } of mixture) {
    const found = await find(voice, cards)
    if (found === null) throw await missing(voice)
    if ('clone' in found) throw refusal(`The voice '${voice}' is a clone, and clones cannot be mixed.`)
    models.push(`'${voice}' (${found.card.id})`)
  }
  const able = cards.filter(({ mixing }) => mixing)
  for (const card of able) {
    const presets = await Promise.all(mixture.map(({ voice }) => find(voice, [card])))
    const ids = presets.map((found) => (found !== null && 'preset' in found ? found.preset.id : null))
    if (!ids.every((id) => id !== null)) continue
    return { card, voiceId: mixtureId(mixture.map(({ weight }, at) => ({ voice: ids[at] as string, weight }))) }
  }
  if (able.length === 0) throw refusal(`Voices of the model '${cards[0]?.id ?? ''}' cannot be mixed.`)
  throw refusal(`These are not voices of one model that can mix them: ${models.join(', ')}.`)
}

export const refusal = (message: string): MynaError => new MynaError('unsupported_value', message, { param: 'voice' })
