/**
 * The voices that a caller knows: presets of installed models and clones, as one collection. A voice that is neither
 * the caller's nor public does not exist, in the same words and after the same queries as one that never did.
 */
import type { Caller } from '../domain/account.ts'
import type { Card, CardVoice } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import { formerVoices } from '../domain/former-names.ts'
import { canSee, type KnownVoice, owns, type Voice } from '../domain/voice.ts'
import type { Catalog, VoiceChange, VoiceFiles, VoiceQuery, Voices } from './ports.ts'
import type { Previews } from './previews.ts'
import { isUsable } from './remake.ts'
import { missingVoice, onlyAdminsPublish, unknownVoice } from './voice-refusals.ts'

export interface LibraryParts {
  catalog: Catalog
  voices: Voices
  files: VoiceFiles
  previews: Previews
  /** Called when the voice of this operation is gone. */
  clones: { cancel(operationId: string): void }
  /** Called after a voice was deleted. */
  removed?: (voiceId: string) => void
  report: (message: string, cause: unknown) => void
}

/** Which voices, in which order; `after` and `before` are ids. */
export interface VoiceAsk extends Omit<VoiceQuery, 'accountId' | 'after'> {
  after: string | null
  before: string | null
}

export interface VoicePage {
  voices: KnownVoice[]
  hasMore: boolean
  /** Over all pages. */
  total: number
}

export class Library {
  readonly #parts: LibraryParts

  constructor(parts: LibraryParts) {
    this.#parts = parts
  }

  /** Without checking access: for routes that decide that themselves. A former name finds the voice in its place. */
  async find(id: string): Promise<KnownVoice | null> {
    const clone = await this.#parts.voices.find(id)
    const preset = (wanted: string | undefined) => this.#presets().find((voice) => voice.id === wanted)
    const voice = preset(id) ?? clone ?? preset(formerVoices.get(id)) ?? null
    return voice === null ? null : this.#known(voice)
  }

  /** @throws MynaError `voice_not_found` */
  async get(caller: Caller, id: string): Promise<KnownVoice> {
    const voice = await this.find(id)
    if (voice === null || !canSee(voice, caller)) throw this.missing(id)
    return voice
  }

  /** The refusal for a voice that the caller may not know about. */
  missing(id: string): MynaError {
    return missingVoice(id, this.#parts.catalog, [], 'voice_id')
  }

  /** @param caller null: only public ones @throws MynaError `invalid_cursor` */
  async list(caller: Caller | null, ask: VoiceAsk): Promise<VoicePage> {
    const backwards = ask.after === null && ask.before !== null
    const cursor = ask.after ?? ask.before
    const after = cursor === null ? null : await this.#place(caller, cursor, backwards ? 'before' : 'after')
    const order = backwards === (ask.order === 'asc') ? 'desc' : 'asc'
    const { owner, status, category, language, search, limit } = ask
    const accountId = caller?.account.id ?? null
    const all = { accountId, owner, status, category, language, search, order, after: null, limit } as const
    const query: VoiceQuery = { ...all, after, limit: limit + 1 }
    const presets = this.#presets().filter((voice) => matches(voice, ask))
    const clones = await this.#parts.voices.list(query)
    const compare = order === 'asc' ? byAge : (a: Place, b: Place) => byAge(b, a)
    const behind = presets.filter((voice) => after === null || compare(voice, after) > 0)
    const found = [...behind, ...clones].sort(compare)
    const voices = found.slice(0, limit).map((voice) => this.#known(voice))
    return {
      voices: backwards ? voices.reverse() : voices,
      hasMore: found.length > limit,
      total: presets.length + (await this.#parts.voices.count(all)),
    }
  }

  /**
   * An administrator's voice becomes public, or private again: then other accounts no longer know it.
   * @throws MynaError `voice_not_found`, `voice_not_owned`, `admin_required`, `validation_error` (an alias in use)
   */
  async change(caller: Caller, id: string, change: VoiceChange): Promise<KnownVoice> {
    await this.#requireOwn(caller, id)
    if (change.isPublic === true && caller.account.role !== 'admin') throw onlyAdminsPublish()
    const changed = await this.#parts.voices.update(id, caller.account.id, change)
    if (changed === null) throw unknownVoice(id, 'voice_id')
    return this.#known(changed)
  }

  /**
   * The database first, in one transaction; then running work is signalled, and the files are removed.
   * @throws MynaError `voice_not_found`, `voice_not_owned`
   */
  async remove(caller: Caller, id: string): Promise<void> {
    await this.#requireOwn(caller, id)
    const removed = await this.#parts.voices.remove(id, caller.account.id)
    if (removed === null) throw unknownVoice(id, 'voice_id')
    if (removed.cancelledOperationId !== null) this.#parts.clones.cancel(removed.cancelledOperationId)
    await this.clear(id)
  }

  /** Deletes every voice of an account, as `remove` does each. @returns how many there were */
  removeOwned(accountId: string): Promise<number> {
    return deleteOwned(this.#parts.voices, accountId, async (id, cancelledOperationId) => {
      if (cancelledOperationId !== null) this.#parts.clones.cancel(cancelledOperationId)
      await this.clear(id)
    })
  }

  /**
   * Removes the files of a voice that is no longer in the database. Files that cannot be removed now go at the next
   * start.
   */
  async clear(id: string): Promise<void> {
    try {
      await this.#parts.files.remove(id)
      await this.#parts.previews.forget(id)
      this.#parts.removed?.(id)
    } catch (error) {
      this.#parts.report(`files of ${id} could not be removed`, error)
    }
  }

  async #requireOwn(caller: Caller, id: string): Promise<void> {
    if (owns(await this.get(caller, id), caller)) return
    throw new MynaError('voice_not_owned', 'Only its owner may change this voice.', { param: 'voice_id' })
  }

  async #place(caller: Caller | null, id: string, param: string): Promise<Place> {
    const voice = await this.find(id)
    if (voice !== null && canSee(voice, caller)) return { createdAtMs: voice.createdAtMs, id: voice.id }
    throw new MynaError('invalid_cursor', `${param}: no such voice in this list`, { param })
  }

  #known(voice: Voice): KnownVoice {
    return { ...voice, isUsable: isUsable(voice, this.#parts.catalog) }
  }

  /** A voice that several models of a family have is that of the preferred one. */
  #presets(): Voice[] {
    const { catalog } = this.#parts
    const installed = catalog.cards().filter((card) => catalog.isInstalled(card.id))
    const inTurn = installed.toSorted((a, b) => a.preference - b.preference)
    const voices = inTurn.flatMap((card) => card.voices.map((voice) => presetVoice(voice, card)))
    return [...new Map(voices.map((voice) => [voice.id, voice])).values()]
  }
}

type Place = Pick<Voice, 'createdAtMs' | 'id'>

const byAge = (a: Place, b: Place): number => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

const presetVoice = (voice: CardVoice, card: Card): Voice => ({
  id: voice.id,
  ownerId: null,
  isPublic: true,
  name: voice.name,
  description: voice.description,
  labels: voice.labels,
  language: voice.language,
  category: 'premade',
  model: card.id,
  fidelity: 'native',
  status: 'ready',
  error: null,
  aliases: [],
  clip: null,
  operationId: null,
  createdAtMs: card.createdAt * 1000,
  updatedAtMs: card.createdAt * 1000,
})

/** As the store does for clones. */
function matches(voice: Voice, { owner, status, category, language, search }: VoiceAsk): boolean {
  const texts = [voice.name, voice.description ?? '', voice.id, ...Object.entries(voice.labels).flat()]
  const wanted = search?.toLowerCase() ?? ''
  return (
    owner !== 'me' &&
    (status === null || voice.status === status) &&
    (category === null || voice.category === category) &&
    (language === null || speaks(voice.language, language)) &&
    texts.some((text) => text.toLowerCase().includes(wanted))
  )
}

/** `en` finds `en-US`, too. */
function speaks(tag: string | null, wanted: string): boolean {
  const [has, asked] = [(tag ?? '').toLowerCase(), wanted.toLowerCase()]
  return has === asked || has.startsWith(`${asked}-`)
}

const ownedAtOnce = 100

/**
 * Deletes every voice that an account owns, in every status.
 * @param deleted called after each, with the clone operation that this ended
 * @returns how many there were
 */
export async function deleteOwned(
  voices: Voices,
  accountId: string,
  deleted: (id: string, cancelledOperationId: string | null) => Promise<void> = async () => {},
): Promise<number> {
  let count = 0
  const query = { accountId, owner: 'me', status: null, category: null, language: null, search: null } as const
  for (;;) {
    const some = await voices.list({ ...query, order: 'asc', after: null, limit: ownedAtOnce })
    if (some.length === 0) return count
    for (const { id } of some) {
      const removed = await voices.remove(id, accountId)
      // Another caller was faster: it is gone all the same.
      if (removed === null) continue
      count++
      await deleted(id, removed.cancelledOperationId)
    }
  }
}
