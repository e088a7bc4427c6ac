/**
 * Previews and pictures of voices: made once, kept on disk, and the ones asked for lately in memory too, so that a page
 * full of voices touches neither the engine nor a codec. Who may hear a voice is asked before, every time.
 */
import type { Card } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import type { Timer } from '../domain/time.ts'
import type { Voice } from '../domain/voice.ts'
import type { Catalog, Encoders, PreviewFiles, SpeechEngine, VoiceFiles, Voices } from './ports.ts'
import type { DrawVoice, PictureStyle, Sound } from './ports/sound.ts'
import { Queue } from './queue.ts'
import { previewHz, sampleText, speakSample } from './sample.ts'

export const previewFormats = ['wav', 'mp3', 'opus'] as const
export type PreviewForm = (typeof previewFormats)[number] | PictureStyle

export interface Preview {
  bytes: Uint8Array<ArrayBuffer>
  /** A digest of the bytes, in hex. */
  digest: string
}

export interface PreviewParts {
  catalog: Catalog
  voices: Voices
  files: VoiceFiles
  made: PreviewFiles
  engine: SpeechEngine
  encoders: Encoders
  sound: Sound
  draw: DrawVoice
  timer: Timer
  report: (message: string, cause: unknown) => void
  /** Of this program: what it speaks may differ from version to version. */
  version: string
}

/** Half a megabyte each at most. */
const remembered = 64
const renderingsWaiting = 32
const renderMs = 30_000
const wavHeaderBytes = 44

export class Previews {
  readonly #parts: PreviewParts
  /** By voice id and name, in order of last use. */
  readonly #recent = new Map<string, Promise<Preview>>()
  readonly #queue: Queue
  /** Sounds being made: a person waits for them. */
  readonly #sounds = new Set<Promise<unknown>>()
  /** The last of the pictures' turns. */
  #turns: Promise<unknown> = Promise.resolve()

  constructor(parts: PreviewParts) {
    this.#parts = parts
    this.#queue = new Queue(1, renderingsWaiting, parts.timer)
  }

  /**
   * Asked for twice at once, it is made once.
   * @param voice one that is ready
   * @throws MynaError `preview_not_available`, `engine_overloaded`, `engine_unavailable`, `generation_failed`
   */
  async get(voice: Voice, form: PreviewForm): Promise<Preview> {
    const key = `${voice.id}/${nameOf(form)}`
    const known = this.#recent.get(key)
    const preview = known ?? this.#load(voice, form)
    this.#recent.delete(key)
    this.#recent.set(key, preview)
    if (this.#recent.size > remembered) this.#recent.delete(this.#recent.keys().next().value ?? '')
    try {
      return await preview
    } catch (error) {
      if (this.#recent.get(key) === preview) this.#recent.delete(key)
      throw error
    }
  }

  /** The voice was deleted. */
  async forget(voiceId: string): Promise<void> {
    for (const key of this.#recent.keys()) if (key.startsWith(`${voiceId}/`)) this.#recent.delete(key)
    await this.#parts.made.remove(voiceId)
  }

  async #load(voice: Voice, form: PreviewForm): Promise<Preview> {
    const made = this.#bytes(voice, form)
    if (typeof form === 'string') {
      this.#sounds.add(made)
      made.finally(() => this.#sounds.delete(made)).catch(() => {})
    }
    const bytes = new Uint8Array(await made)
    return { bytes, digest: new Bun.CryptoHasher('sha256').update(bytes).digest('hex').slice(0, 32) }
  }

  async #bytes(voice: Voice, form: PreviewForm): Promise<Uint8Array> {
    if (form === 'wav') return this.#wav(voice)
    const name = `${this.#mark(voice)}${nameOf(form)}`
    const kept = await this.#parts.made.read(voice.id, name)
    if (kept !== null) return kept
    const bytes =
      typeof form === 'string' ? await this.#encode(await this.#pcm(voice), form) : await this.#picture(voice, form)
    await this.#keep(voice, name, bytes)
    return bytes
  }

  async #pcm(voice: Voice): Promise<Int16Array> {
    const { bytes } = await this.get(voice, 'wav')
    return new Int16Array(bytes.slice(wavHeaderBytes).buffer)
  }

  /** The voices of pictures are spoken in turn, so that a sound waits for one of them at most, and for no drawing. */
  async #picture(voice: Voice, style: PictureStyle): Promise<Uint8Array> {
    const turn = this.#turns.then(() => this.#quiet()).then(() => this.#pcm(voice))
    this.#turns = turn.catch(() => {})
    const pcm = await turn
    await this.#quiet()
    return this.#parts.draw(pcm, previewHz, style)
  }

  /** No sound is being made. */
  async #quiet(): Promise<void> {
    while (this.#sounds.size > 0) await Promise.allSettled(this.#sounds)
  }

  async #wav(voice: Voice): Promise<Uint8Array> {
    const { files, made } = this.#parts
    if (voice.ownerId !== null) {
      const bytes = await files.read(voice.id, 'preview.wav')
      if (bytes === null) throw noPreview()
      return bytes
    }
    const name = `${this.#mark(voice)}wav`
    const kept = await made.read(voice.id, name)
    if (kept !== null) return kept
    const bytes = await this.#render(voice)
    // What another version of the program made goes with it.
    await made.remove(voice.id)
    await this.#keep(voice, name, bytes)
    return bytes
  }

  async #render(voice: Voice): Promise<Uint8Array> {
    const { engine, sound, timer } = this.#parts
    const place = this.#queue.reserve()
    const abort = new AbortController()
    const tooLong = () => abort.abort(new MynaError('generation_failed', 'The engine took too long.'))
    const cancelDeadline = timer.after(2 * renderMs, tooLong)
    try {
      await place.turn(renderMs, abort.signal)
      const of = { card: this.#card(voice), voiceId: voice.id, voiceState: null, language: voice.language }
      return sound.wav(await speakSample(of, engine, abort.signal), previewHz)
    } finally {
      cancelDeadline()
      place.leave()
    }
  }

  #card(voice: Voice): Card {
    const card = this.#parts.catalog.cards().find(({ id }) => id === voice.model)
    if (card === undefined) throw noPreview()
    return card
  }

  /** Distinguishes this program's version of a preset from another version's; a clone's preview never changes. */
  #mark(voice: Voice): string {
    if (voice.ownerId !== null) return ''
    const { text } = sampleText({ card: this.#card(voice), language: voice.language })
    const made = JSON.stringify([this.#parts.version, voice.model, voice.id, text])
    return `${new Bun.CryptoHasher('sha256').update(made).digest('hex').slice(0, 12)}.`
  }

  async #encode(pcm: Int16Array, format: 'mp3' | 'opus'): Promise<Uint8Array> {
    const encoder = await this.#parts.encoders.open(format, previewHz)
    try {
      const first = await encoder.encode(pcm)
      const rest = await encoder.finish()
      return Buffer.concat([first, rest])
    } finally {
      encoder.close()
    }
  }

  /** A preview that cannot be kept is made again; one of a voice that was deleted meanwhile is not kept. */
  async #keep(voice: Voice, name: string, bytes: Uint8Array): Promise<void> {
    const { made, voices, report } = this.#parts
    try {
      await made.write(voice.id, name, bytes)
    } catch (error) {
      report(`the preview of ${voice.id} could not be stored`, error)
    }
    if (voice.ownerId !== null && (await voices.find(voice.id)) === null) await this.forget(voice.id)
  }
}

const nameOf = (form: PreviewForm): string => (typeof form === 'string' ? form : `${form.theme}.${form.format}`)

export const noPreview = (): MynaError =>
  new MynaError('preview_not_available', 'This voice has no preview.', { param: 'voice_id' })
