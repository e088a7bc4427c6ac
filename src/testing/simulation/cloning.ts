/**
 * What the simulated process needs for cloned voices: the service over the real files, clips that are decoded in the
 * same turn, and an engine that holds every clone until it is released.
 */
import { sound } from '../../audio/clip.ts'
import { fromS16 } from '../../audio/pcm.ts'
import { voicePicture } from '../../audio/picture/picture.ts'
import { readWav, wavHeader } from '../../audio/wav.ts'
import { MynaError } from '../../domain/error.ts'
import { Clones, type CloneParts } from '../../service/clone.ts'
import { Consents } from '../../service/consents.ts'
import { startSweeping } from '../../service/housekeeping.ts'
import { Library, type LibraryParts } from '../../service/library.ts'
import type { SpeechOrder } from '../../service/ports.ts'
import type { ConsentBooks } from '../../service/ports/consents.ts'
import type { Decoder } from '../../service/ports/sound.ts'
import { Previews, type PreviewParts } from '../../service/previews.ts'
import type { FakePlan } from '../fake-engine.ts'
import type { ClipKind, Learning } from './clone-model.ts'
import type { Work } from './files.ts'
import type { Settings } from './facts.ts'

const draw: PreviewParts['draw'] = (pcm, sampleRateHz, style) =>
  voicePicture(pcm, sampleRateHz, { ...style, widthPx: 240, heightPx: 120 })

const decoder: Decoder = {
  async decode(bytes) {
    try {
      const { pcm, sampleRateHz } = readWav(bytes)
      return { pcm: fromS16(pcm), sampleRateHz, container: 'wav', codec: 'pcm', mimeType: 'audio/wav' }
    } catch {
      throw new MynaError('clip_undecodable', 'This is no clip.')
    }
  },
}

type Parts = Omit<
  CloneParts & LibraryParts & PreviewParts,
  'sound' | 'decoder' | 'previews' | 'clones' | 'consents' | 'draw' | 'version' | 'remade'
> & { consents: ConsentBooks }

export function voiceServices(parts: Parts, settings: Settings, work: Work) {
  const heard = work.counted(sound, ['resampled', 'reference'])
  const limits = {
    ...settings,
    concurrency: settings.cloneConcurrency,
    minClipSeconds: 0.1,
    maxClipSeconds: 10,
    requireConsent: false,
  }
  const hearing = { ...parts, decoder, sound: heard }
  const clones = new Clones(
    { ...hearing, remade: async () => {}, consents: new Consents({ ...hearing, books: parts.consents }, limits) },
    limits,
  )
  const previews = new Previews({ ...parts, sound: heard, draw, version: 'simulated' })
  const library = new Library({ ...parts, previews, clones })
  const sweep = async () => {
    const due = Promise.withResolvers<() => unknown>()
    const timer = { after: (_: number, call: () => unknown) => (due.resolve(call), () => {}) }
    const stop = startSweeping({ ...parts, library, timer })
    stop()
    await (
      await due.promise
    )()
  }
  return { clones, library, sweep }
}

/** The engine's side of clones: each one waits for a permit to end, or for its engine to vanish. */
export class Learners {
  readonly #learningOf: (operationId: string) => Learning
  /** Marked as started but not yet sent to the engine, in that order. */
  readonly #starting: string[] = []
  readonly #held = new Map<string, PromiseWithResolvers<void>>()
  /** Learnt, but the preview is not requested yet. */
  readonly #learnt = new Set<string>()

  constructor(learningOf: (operationId: string) => Learning) {
    this.#learningOf = learningOf
  }

  expect(operationId: string): void {
    this.#starting.push(operationId)
  }

  permit(operationId: string): void {
    this.#held.get(operationId)?.resolve()
  }

  vanish(): void {
    for (const held of this.#held.values()) held.reject(new MynaError('engine_unavailable', 'The engine ended.'))
  }

  /** The state of a voice is the id of the operation that made it. */
  async learn(): Promise<Uint8Array> {
    const id = this.#starting.shift()
    if (id === undefined) throw new Error('the engine was given a clip before its clone was marked as started')
    const held = Promise.withResolvers<void>()
    this.#held.set(id, held)
    await held.promise
    const learning = this.#learningOf(id)
    if (learning === 'refused') throw new MynaError('clip_refused', 'The model hears no voice in this clip.')
    if (learning === 'broken') throw new MynaError('generation_failed', 'The model failed.')
    this.#learnt.add(id)
    return new TextEncoder().encode(id)
  }

  /** null: the order is not the preview of a new voice. */
  previewOf({ voiceState }: SpeechOrder): Partial<FakePlan> | null {
    const id = voiceState === null ? '' : new TextDecoder().decode(voiceState)
    if (!this.#learnt.delete(id)) return null
    return { frames: 1, samplesPerFrame: 240, failAt: this.#learningOf(id) === 'mute' ? 0 : null }
  }
}

const clipHz = 16_000

/** A fifth of a second, which the fake engine treats as more than a second of speech. */
export function clipOf(kind: ClipKind): Uint8Array {
  if (kind === 'broken') return new TextEncoder().encode('no clip')
  const samples = kind === 'short' ? clipHz / 20 : clipHz / 5
  const pcm = Int16Array.from({ length: samples }, (_, i) => (kind === 'silent' ? 0 : 9000 * Math.sin(i / 9)))
  const header = wavHeader(clipHz, pcm.byteLength)
  return new Uint8Array(Buffer.concat([header, new Uint8Array(pcm.buffer)]))
}
