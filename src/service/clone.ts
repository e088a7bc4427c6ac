/**
 * Cloning: from a checked form to a voice that is being made. Everything that can be refused is refused before there is
 * a row or a charge; the rest is the work of `cloning.ts`, which runs in the background.
 */
import type { Caller } from '../domain/account.ts'
import type { Card } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import { hashIdempotencyKey } from '../domain/idempotency.ts'
import { isLanguageAmong } from '../domain/language.ts'
import type { Operation, Outcome } from '../domain/operation.ts'
import type { Clock } from '../domain/time.ts'
import { checkClip, type ClipFile, type ClipLimits, type ClipParts } from './clip.ts'
import { Cloning, type CloningParts } from './cloning.ts'
import { PerAccount } from './concurrency.ts'
import type { Consents } from './consents.ts'
import { remakable } from './remake.ts'
import { countRefusedKey, Live } from './running-work.ts'
import type { Catalog, DescribedVoice } from './ports.ts'
import type { Queue } from './queue.ts'
import { onlyAdminsPublish } from './voice-refusals.ts'

export interface CloneRequest extends DescribedVoice {
  file: ClipFile
}

export interface CloneParts extends CloningParts, ClipParts {
  catalog: Catalog
  engine: CloningParts['engine']
  queue: Queue
  consents: Pick<Consents, 'requireKnown'>
  clock: Clock
  random: (bytes: Uint8Array) => Uint8Array
}

export interface CloneLimits extends ClipLimits {
  concurrency: number
  cloneMicros: number
  freeClones: number
  maxVoices: number
  requireConsent: boolean
}

/** The admitted clone. */
export interface NewClone {
  operation: Operation
  voiceId: string
  name: string
  /** Resolves once the voice is ready, or never will be; never rejects. */
  settled: Promise<Outcome>
}

export class Clones extends Live<Cloning> {
  readonly #parts: CloneParts
  readonly #limits: CloneLimits
  readonly #perAccount: PerAccount

  constructor(parts: CloneParts, limits: CloneLimits) {
    super()
    this.#parts = parts
    this.#limits = limits
    this.#perAccount = new PerAccount(limits.concurrency, 'clones')
  }

  /**
   * Admits a clone; the work continues afterwards.
   * @param idempotencyKey as the client sent it; null: none. Looked up before the request is read.
   * @param read reads and checks the upload
   * @param gone aborts when the client has disconnected; ignored once the clone is admitted
   * @throws MynaError of idempotency, input, the clip, money or capacity; there is no operation then
   */
  async begin(
    caller: Caller,
    idempotencyKey: string | null,
    read: () => Promise<CloneRequest>,
    gone: AbortSignal,
  ): Promise<NewClone> {
    this.requireOpen()
    const leaveAccount = this.#perAccount.enter(caller.account.id)
    let cloning: Cloning | null = null
    try {
      const keyHash = idempotencyKey === null ? null : hashIdempotencyKey(idempotencyKey)
      const { ledger } = this.#parts
      if (keyHash !== null)
        await countRefusedKey(this.#parts.meter, ledger.checkKey(caller.account.id, 'clone', keyHash, null))
      const request = await read()
      const admitted = await this.#admit(caller, request, keyHash, gone)
      cloning = admitted.cloning
      return admitted
    } catch (error) {
      if (error instanceof MynaError && error.code.startsWith('clip_')) this.#parts.meter.cloned(error.code)
      throw error
    } finally {
      if (cloning === null) leaveAccount()
      else this.#start(cloning, leaveAccount)
    }
  }

  /**
   * Admits making a voice again whose model is gone; the work continues afterwards.
   * @throws MynaError as `remakable`; `model_not_found`, of capacity
   */
  async remake(caller: Caller, voiceId: string): Promise<Operation> {
    this.requireOpen()
    const leaveAccount = this.#perAccount.enter(caller.account.id)
    let cloning: Cloning | null = null
    try {
      cloning = await this.#admitRemake(caller, voiceId)
      return cloning.operation
    } finally {
      if (cloning === null) leaveAccount()
      else this.#start(cloning, leaveAccount)
    }
  }

  async #admitRemake(caller: Caller, voiceId: string): Promise<Cloning> {
    const { ledger, catalog, queue, clock, random } = this.#parts
    const { voice, clip, reference } = await remakable(caller, voiceId, this.#parts)
    const card = cloningCard(catalog, voice.language)
    this.requireWritable()
    const place = queue.reserve()
    try {
      this.requireOpen()
      const operation = await ledger.admitRemake({
        operationId: newId('op', clock.nowMs(), random),
        accountId: caller.account.id,
        keyId: caller.key.id,
        voiceId,
        model: card.id,
        maxPending: this.#limits.concurrency,
      })
      const work = { operation, voiceId, card, language: voice.language, clip, reference, place, isRemake: true }
      return new Cloning(this.#parts, work)
    } catch (error) {
      place.leave()
      throw error
    }
  }

  #start(cloning: Cloning, leaveAccount: () => void): void {
    this.add(cloning, leaveAccount)
    void cloning.run()
  }

  async #admit(
    caller: Caller,
    request: CloneRequest,
    keyHash: string | null,
    gone: AbortSignal,
  ): Promise<NewClone & { cloning: Cloning }> {
    const { ledger, catalog, queue, consents, clock, random } = this.#parts
    const isAdmin = caller.account.role === 'admin'
    this.#requireDeclared(request)
    if (request.isPublic && !isAdmin) {
      throw onlyAdminsPublish()
    }
    await consents.requireKnown(caller, request.consent)
    const card = cloningCard(catalog, request.language)
    this.requireWritable()
    // Decoding takes memory and time, so its turn is reserved, too.
    const place = queue.reserve()
    try {
      const { clip, reference } = await checkClip(request.file, this.#parts, this.#limits, gone)
      this.requireOpen()
      const nowMs = clock.nowMs()
      const voiceId = newId('voice', nowMs, random)
      const { file: _, ...described } = request
      const operation = await countRefusedKey(
        this.#parts.meter,
        ledger.admitClone({
          ...described,
          operationId: newId('op', nowMs, random),
          accountId: caller.account.id,
          keyId: caller.key.id,
          isAdmin,
          keyHash,
          voiceId,
          maxPending: this.#limits.concurrency,
          model: card.id,
          fidelity: card.cloning ?? 'approximate',
          clip,
          priceMicros: this.#limits.cloneMicros,
          freeClones: this.#limits.freeClones,
          maxVoices: this.#limits.maxVoices,
        }),
      )
      const { language, name, file } = request
      const work = { operation, voiceId, card, language, clip: file.bytes, reference, place, isRemake: false }
      const cloning = new Cloning(this.#parts, work)
      return { operation, voiceId, name, settled: cloning.settled, cloning }
    } catch (error) {
      place.leave()
      throw error
    }
  }

  #requireDeclared({ consent }: CloneRequest): void {
    if (!this.#limits.requireConsent || consent !== null) return
    const message = "This server clones only with consent: state in the field 'consent' whose voice it is."
    throw new MynaError('consent_required', message, { param: 'consent' })
  }
}

/** The best installed model that clones, if there is one for the language among them. */
function cloningCard(catalog: Catalog, language: string | null): Card {
  const able = catalog.ranked('text-to-speech').filter((card) => card.cloning !== null)
  const speaks = ({ languages }: Card) => language !== null && isLanguageAmong(language, languages)
  const [best] = able.toSorted((a, b) => Number(speaks(b)) - Number(speaks(a)))
  if (best !== undefined) return best
  const message = 'No installed model can clone a voice. List the models with: myna models list'
  throw new MynaError('model_not_found', message, { param: 'model' })
}
