/**
 * The one player of the console: what is being heard, whichever page is open. It plays a finished file, or follows
 * sound that still comes and takes over its file when that is whole.
 */
import { takeTurn } from '../parts/sound.ts'
import type { Playback } from '../speak/playback.ts'

export interface Track {
  id: string
  title: string
  detail: string
  /** See `speak/peaks.ts`. */
  peaks: readonly number[]
  /** Known so far. */
  seconds: number
  /** null: it still comes, and cannot be moved in. */
  file: Blob | null
  fileName: string
}

class Deck extends EventTarget {
  track: Track | null = null
  isPlaying = false
  readonly #audio = new Audio()
  #live: Playback | null = null
  #url: string | null = null

  constructor() {
    super()
    for (const name of ['play', 'pause', 'ended'] as const) {
      this.#audio.addEventListener(name, () => {
        if (this.#live === null) this.#set(name === 'play')
      })
    }
  }

  get positionS(): number {
    if (this.#live !== null) return this.#live.positionS()
    return this.#url === null ? 0 : this.#audio.currentTime
  }

  /** Follows sound that is being made, and plays already. */
  follow(track: Track, playback: Playback): void {
    this.#silence()
    this.track = track
    this.#live = playback
    this.#set(true)
  }

  /** More is known of the track that is followed. */
  grow(id: string, change: Partial<Track>): void {
    if (this.track?.id !== id) return
    this.track = { ...this.track, ...change }
    this.#tell()
  }

  /** What was followed has been heard: its file is ready to be played again. */
  land(id: string): void {
    if (this.track?.id !== id || this.#live === null) return
    this.#live = null
    this.#load()
    this.#set(false)
  }

  play(track: Track): void {
    this.#silence()
    this.track = track
    this.#load()
    void this.#audio.play().catch(() => this.#set(false))
  }

  toggle(): void {
    if (this.track === null) return
    if (this.#live !== null) {
      if (this.isPlaying) this.#live.pause()
      else this.#live.resume()
      this.#set(!this.isPlaying)
      return
    }
    if (this.isPlaying) this.#audio.pause()
    else void this.#audio.play().catch(() => this.#set(false))
  }

  pause(): void {
    if (this.isPlaying) this.toggle()
  }

  /** Within a file; sound that still comes stays where it is. */
  seek(seconds: number): void {
    if (this.track === null || this.track.file === null) return
    if (this.#live !== null) {
      const wasPlaying = this.isPlaying
      this.#live.stop()
      this.#live = null
      this.#load()
      if (wasPlaying) void this.#audio.play().catch(() => this.#set(false))
    }
    this.#audio.currentTime = Math.max(0, Math.min(seconds, this.track.seconds))
    this.#tell()
  }

  /** @param id null: whatever it is */
  close(id: string | null = null): void {
    if (id !== null && this.track?.id !== id) return
    this.#silence()
    this.track = null
    this.#set(false)
  }

  #silence(): void {
    this.#live?.stop()
    this.#live = null
    this.#audio.pause()
    if (this.#url !== null) URL.revokeObjectURL(this.#url)
    this.#url = null
  }

  #load(): void {
    if (this.#url !== null) URL.revokeObjectURL(this.#url)
    const { file = null } = this.track ?? {}
    this.#url = file === null ? null : URL.createObjectURL(file)
    if (this.#url !== null) this.#audio.src = this.#url
  }

  #set(isPlaying: boolean): void {
    this.isPlaying = isPlaying
    if (isPlaying) takeTurn(this)
    this.#tell()
  }

  #tell(): void {
    this.dispatchEvent(new Event('change'))
  }
}

export const deck = new Deck()
