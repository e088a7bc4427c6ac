/**
 * A book on the Speak page: dropped or chosen, its chapters shown, spoken into one MP3 with chapter marks. What runs
 * stays when another page is opened; what was begun is here again after a reload.
 */
import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Book, Chapter } from '../../book/book.ts'
import { announce } from '../parts/announce.tsx'
import { Problem } from '../parts/controls.tsx'
import { DropAnywhere } from '../parts/drop.tsx'
import { bytes, count, counted, duration } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { BookSpeech } from './book-speech.ts'
import { bookKinds, openBook } from './open-file.ts'
import { bookOf, forgetBook, type Manner } from './shelf.ts'

interface DeskProps {
  /** Whose it is: another account's book is another one. */
  accountId: string
  /** How it is to be spoken. */
  manner: Manner
  voiceName: string
  /** Of a request. */
  maxChars: number
  /** A short text without chapters: it is typed rather than read as a book. */
  onText: (text: string) => void
}

/** About ten minutes of speech. */
const shortChars = 10_000

interface Open {
  accountId: string
  book: Book
  name: string
  /** null: not begun. */
  speech: BookSpeech | null
}

let kept: Open | null = null

export function BookDesk({ accountId, manner, voiceName, maxChars, onText }: DeskProps) {
  const [open, setOpen] = useState<Open | null>(kept?.accountId === accountId ? kept : null)
  const [error, setError] = useState<Error | null>(null)
  const put = (next: Open | null) => {
    kept?.speech?.stop()
    kept = next
    setOpen(next)
    setError(null)
  }
  useEffect(() => {
    const show = (found: Awaited<ReturnType<typeof bookOf>>) => {
      if (found === null || kept?.accountId === accountId) return
      const { plan, spoken } = found
      const book = { title: plan.title, author: plan.author, chapters: [...plan.chapters] }
      put({ accountId, book, name: plan.name, speech: new BookSpeech(plan, spoken) })
    }
    if (kept?.accountId !== accountId) void bookOf(accountId).then(show, () => {})
  }, [accountId])
  const close = () => {
    put(null)
    void forgetBook(accountId).catch(() => {})
  }
  const take = (file: File) => {
    const show = (book: Book) => {
      const [only, ...others] = book.chapters
      if (only === undefined || others.length > 0 || only.text.length > shortChars) {
        return put({ accountId, book, name: file.name.replace(/\.[^.]+$/, ''), speech: null })
      }
      setError(null)
      onText(only.text)
      announce(`${file.name} is in the text field.`)
    }
    openBook(file).then(show, (cause: Error) => setError(cause))
  }
  const begin = (chapters: readonly Chapter[]) => {
    if (open === null) return
    const { title, author } = open.book
    const of = { id: crypto.randomUUID(), accountId, name: open.name, title, author, chapters }
    const speech = new BookSpeech({ ...of, manner, voiceName, maxChars })
    put({ ...open, speech })
    void speech.run()
  }
  return (
    <section class="card book" aria-label="Book">
      {open?.speech?.isRunning === true ? null : (
        <DropAnywhere says="Drop a book or a text to have it read aloud" onFile={take} />
      )}
      <div class="row apart">
        <h2>{open === null ? 'A whole book' : (open.book.title ?? open.name)}</h2>
        {open === null ? null : (
          <button class="quiet icon" aria-label="Close the book" onClick={close}>
            <Icon name="close" />
          </button>
        )}
      </div>
      <Problem error={error} />
      {open === null ? <Choose onFile={take} /> : null}
      {open !== null && open.speech === null ? <Contents key={open.name} book={open.book} onBegin={begin} /> : null}
      {open !== null && open.speech !== null ? <Spoken speech={open.speech} name={open.name} /> : null}
    </section>
  )
}

const Choose = ({ onFile }: { onFile: (file: File) => void }) => (
  <div class="row">
    <label class="button">
      <Icon name="book" /> Choose a book
      <input
        type="file"
        class="unseen"
        accept={bookKinds}
        aria-label="Book or document"
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          if (file !== undefined) onFile(file)
        }}
      />
    </label>
    <span class="hint">Or drop an EPUB, a Markdown or a text file. One MP3 with chapters comes out.</span>
  </div>
)

interface ContentsProps {
  book: Book
  onBegin: (chapters: readonly Chapter[]) => void
}

/** Sixteen letters a second, as English is read. */
const charsPerSecond = 16

function Contents({ book, onBegin }: ContentsProps) {
  const [left, setLeft] = useState<ReadonlySet<number>>(new Set())
  const wanted = book.chapters.filter((_, index) => !left.has(index))
  const chars = wanted.reduce((sum, { text }) => sum + text.length, 0)
  const toggle = (index: number) => {
    const next = new Set(left)
    if (!next.delete(index)) next.add(index)
    setLeft(next)
  }
  return (
    <>
      <p class="hint">
        {book.author === null ? '' : `${book.author} · `}
        {counted(wanted.length, 'chapter')}, {count(chars)} characters, about {duration(chars / charsPerSecond)}
      </p>
      <ol class="chapters">
        {book.chapters.map(({ title, text }, index) => (
          <li key={index}>
            <label class="check">
              <input type="checkbox" checked={!left.has(index)} onChange={() => toggle(index)} />
              <span dir="auto">{title}</span>
              <span class="hint numbers">{duration(text.length / charsPerSecond)}</span>
            </label>
          </li>
        ))}
      </ol>
      <div class="row">
        <button disabled={wanted.length === 0} onClick={() => onBegin(wanted)}>
          <Icon name="speak" /> Read it aloud
        </button>
        <span class="hint">With the voice and the speed above.</span>
      </div>
    </>
  )
}

function Spoken({ speech, name }: { speech: BookSpeech; name: string }) {
  const [, setTurn] = useState(0)
  useEffect(() => {
    const turn = () => setTurn((before) => before + 1)
    speech.addEventListener('change', turn)
    return () => speech.removeEventListener('change', turn)
  }, [speech])
  const { file, error, isRunning, chapter, chapters, share, seconds } = speech
  useEffect(() => {
    if (file !== null) announce('The book is ready.')
  }, [file])
  if (file !== null) return <Ready file={file} name={name} seconds={seconds} chapters={chapters.length} />
  return (
    <>
      <p>
        Chapter {chapter + 1} of {chapters.length}: <bdi>{chapters[chapter]?.title}</bdi>
      </p>
      <progress value={share} aria-label="The book" />
      <p class="hint numbers">
        {Math.floor(share * 100)} %, {duration(seconds)} of sound so far
      </p>
      <Problem error={error} />
      <div class="row">
        {isRunning ? (
          <button onClick={() => speech.stop()}>Pause</button>
        ) : (
          <button onClick={() => void speech.run()}>Continue</button>
        )}
      </div>
    </>
  )
}

function Ready({ file, name, seconds, chapters }: { file: Blob; name: string; seconds: number; chapters: number }) {
  const url = useMemo(() => URL.createObjectURL(file), [file])
  useEffect(() => () => URL.revokeObjectURL(url), [url])
  return (
    <>
      <audio controls src={url} aria-label="The book" />
      <div class="row">
        <a class="button" href={url} download={`${name}.mp3`}>
          <Icon name="download" /> Download {name}.mp3
        </a>
        <span class="hint">
          {counted(chapters, 'chapter')}, {duration(seconds)}, {bytes(file.size)}
        </span>
      </div>
    </>
  )
}
