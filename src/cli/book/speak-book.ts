/**
 * A book, or a text over the limit of one request, spoken piece by piece and joined to one file with chapter marks; or
 * played at once, piece after piece.
 */
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Book } from '../../book/book.ts'
import { fewEnough, type Mark } from '../../book/marks.ts'
import { type Piece, pieces } from '../../book/pieces.ts'
import { countChars } from '../../domain/charge.ts'
import { defaultSampleRateHz } from '../../domain/speech.ts'
import { systemClock } from '../../domain/time.ts'
import { type Captions, TimedSpeech, timingFields } from '../client/captions.ts'
import type { ApiClient } from '../client/client.ts'
import { type Player, playerSink } from '../client/player.ts'
import { fileSink, type Sink } from '../client/sink.ts'
import { costsOf, deliverTo, tellSpoken } from '../client/spoken-file.ts'
import { counted, duration } from '../terminal/format.ts'
import { progressLine } from '../terminal/progress.ts'
import { Failure, note } from '../terminal/terminal.ts'
import { type BookFormat, openAudioFile } from './audio-file.ts'
import { type KeptPiece, KeptPieces } from './kept-pieces.ts'

export interface BookOrder {
  book: Book
  /** `-` is standard output. */
  file: string
  format: BookFormat
  /** How to speak, as fields of `POST /v1/audio/speech`. */
  how: object
  captions: Captions | null
  client: ApiClient
  json: boolean
}

interface Spoken {
  chargedMicros: number
  /** Pieces of an earlier try. */
  reused: number
}

const msOf = (samples: number): number => (1000 * samples) / defaultSampleRateHz
const silence = ({ pauseSeconds }: Piece): Int16Array => new Int16Array(Math.round(pauseSeconds * defaultSampleRateHz))

/** The limit of one request, as reported by the server. */
export async function longestInput(client: ApiClient, model: string | undefined): Promise<number> {
  const { data } = (await (await client.ask('/models')).json()) as {
    data: { id: string; max_input_chars?: number }[]
  }
  const limits = data.flatMap(({ id, max_input_chars: most }) =>
    most === undefined || (model !== undefined && id !== model) ? [] : [most],
  )
  return limits.length === 0 ? usualLimit : Math.min(...limits)
}

const usualLimit = 4096

/** @throws Failure that says what is kept, and that the same command continues */
export async function speakBook(order: BookOrder): Promise<void> {
  const { book, file, format, client, json } = order
  const limit = await longestInput(client, (order.how as { model?: string }).model)
  const chapters = book.chapters.map((chapter) => ({ ...chapter, pieces: pieces(chapter.text, limit) }))
  const titles = chapters.map(({ title }): Mark => ({ title, startMs: 0, endMs: 0 }))
  const marksOf = (all: readonly Mark[]) => ({
    title: book.title,
    author: book.author,
    chapters: all.length > 1 ? fewEnough(all) : [],
  })
  const output = await openAudioFile(file, format, marksOf(titles))
  const kept = await KeptPieces.open(file === '-' ? await mkdtemp(join(tmpdir(), 'myna-book-')) : `${file}.pieces`)
  const work = new BookWork(order, kept, chapters.flatMap((chapter) => chapter.pieces).length)
  const marks: Mark[] = []
  try {
    let samples = 0
    // A piece is encoded while the next one is spoken.
    let writing = Promise.resolve()
    for (const [index, chapter] of chapters.entries()) {
      const startMs = msOf(samples)
      for (const piece of chapter.pieces) {
        const { pcm, words } = await work.speak(
          piece,
          chapters.length > 1 ? `Chapter ${index + 1} of ${chapters.length}` : 'Speaking',
        )
        if (words !== null) order.captions?.add(piece.text, words, msOf(samples))
        const pause = silence(piece)
        await writing
        writing = output.write(pcm).then(() => output.write(pause))
        // It is awaited before the next one; until then its failure waits there.
        writing.catch(() => {})
        samples += pcm.length + pause.length
      }
      marks.push({ title: chapter.title, startMs, endMs: msOf(samples) })
      if (!json && chapters.length > 1) work.tell(index, marks.at(-1)!)
    }
    await writing
    work.end()
    await output.finish(marksOf(marks))
    await order.captions?.write()
  } catch (error) {
    work.end()
    await output.close().catch(() => {})
    if (file === '-') await kept.remove()
    throw file === '-' ? error : work.stopped(error)
  }
  await kept.remove()
  await tellBook(order, marks, work.spoken)
}

async function tellBook(order: BookOrder, marks: readonly Mark[], { chargedMicros, reused }: Spoken): Promise<void> {
  const { file, json, book, client } = order
  const seconds = (marks.at(-1)?.endMs ?? 0) / 1000
  const characters = book.chapters.reduce((sum, { text }) => sum + countChars(text), 0)
  const result = { seconds, characters, chapters: marks.length, chargedMicros, reusedPieces: reused }
  const costs = json ? '' : await costsOf(chargedMicros, client)
  const inChapters = marks.length > 1 ? ` in ${counted(marks.length, 'chapter')}` : ''
  const text = `${duration(1000 * seconds)} of audio${inChapters} from ${counted(characters, 'character')}${costs}`
  tellSpoken({ file, json }, result, text)
}

/** Speaks pieces, or finds those from an earlier try, and shows the progress. */
class BookWork {
  readonly #order: BookOrder
  readonly #kept: KeptPieces
  readonly #count: number
  readonly #line = progressLine()
  readonly #startMs = systemClock.monotonicMs()
  readonly #notice: (text: string) => void
  #done = 0
  readonly spoken: Spoken = { chargedMicros: 0, reused: 0 }

  constructor(order: BookOrder, kept: KeptPieces, count: number) {
    this.#order = order
    this.#kept = kept
    this.#count = count
    this.#notice = saidOnce(order.json, () => this.end())
  }

  async speak({ text }: Piece, where: string): Promise<KeptPiece> {
    const timed = this.#order.captions === null ? null : new TimedSpeech()
    const body = { input: text, ...this.#order.how, response_format: 'pcm', ...(timed !== null && timingFields) }
    this.#line.show(where, this.#startMs, this.#done / this.#count)
    const found = await this.#kept.find(body, timed !== null)
    if (found !== null) this.spoken.reused++
    else await this.#request(body, timed)
    const piece = found ?? (await this.#kept.find(body, timed !== null))
    if (piece === null) throw new Failure(`${this.#kept.folder} was changed by another program.`, 'cannot_read')
    this.#done++
    return piece
  }

  async #request(body: object, timed: TimedSpeech | null): Promise<void> {
    const { client } = this.#order
    const file = await fileSink(this.#kept.pathOf(body))
    // The half of a piece is of no use: what the book keeps is said in `stopped`.
    const sink: Sink = {
      get bytes() {
        return file.bytes
      },
      write: (chunk) => file.write(chunk),
      keep: () => file.keep(),
      leave: () => file.leave().then(() => ''),
    }
    const operation = await deliverTo(sink, { body, timed, client, notice: this.#notice })
    if (timed !== null) await this.#kept.keepWords(body, timed)
    this.spoken.chargedMicros += operation?.charged_micros ?? 0
  }

  /** Prints a line that stays: one chapter is complete. */
  tell(index: number, { title, startMs, endMs }: Mark): void {
    this.end()
    note(`${String(index + 1).padStart(3)}  ${duration(endMs - startMs).padStart(11)}  ${title}`)
  }

  end(): void {
    this.#line.clear()
  }

  stopped(error: unknown): unknown {
    if (!(error instanceof Error) || this.#done === 0) return error
    const are = this.#done === 1 ? 'is' : 'are'
    const what = `${this.#done} of ${counted(this.#count, 'piece')} ${are} spoken and kept in ${this.#kept.folder}.`
    const code = error instanceof Failure ? error.code : 'failed'
    return new Failure(`${error.message} ${what} The same command continues there.`, code)
  }
}

/** The server warns with each piece of a name that will end. @param clear makes room for the words */
function saidOnce(json: boolean, clear: () => void = () => {}): (text: string) => void {
  const said = new Set<string>()
  return (text) => {
    if (json || said.has(text)) return
    said.add(text)
    clear()
    note(text)
  }
}

/** Plays it at once; nothing is kept. */
export async function playBook(
  { book, how, client, json }: Pick<BookOrder, 'book' | 'how' | 'client' | 'json'>,
  player: Player,
): Promise<void> {
  const limit = await longestInput(client, (how as { model?: string }).model)
  const whole = playerSink(player)
  const notice = saidOnce(json)
  // The player gets one stream, however it is divided into pieces.
  const sink: Sink = { ...whole, bytes: 0, write: (chunk) => whole.write(chunk), keep: async () => {} }
  for (const [index, { title, text }] of book.chapters.entries()) {
    if (!json && book.chapters.length > 1) note(`Chapter ${index + 1} of ${book.chapters.length}: ${title}`)
    for (const piece of pieces(text, limit)) {
      await deliverTo(sink, { body: { input: piece.text, ...how, response_format: 'pcm' }, client, notice })
      await whole.write(new Uint8Array(silence(piece).buffer))
    }
  }
  await whole.keep()
}
