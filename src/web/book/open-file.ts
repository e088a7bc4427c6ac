/** A file that was dropped or chosen, as a book. */
import { type Book, BookError } from '../../book/book.ts'
import { epubBook, maxEpubBytes } from '../../book/epub.ts'
import { markdownBook, textBook } from '../../book/plain.ts'

export const bookKinds = '.epub,.md,.markdown,.txt'

const extensionOf = ({ name }: File): string => /\.[^.]+$/.exec(name)?.[0].toLowerCase() ?? ''

const isBook = (file: File): boolean => bookKinds.split(',').includes(extensionOf(file))

/** @throws BookError in words for the person who chose it */
export async function openBook(file: File): Promise<Book> {
  if (!isBook(file)) throw new BookError(`${file.name} is not a book: choose an EPUB, a Markdown or a text file.`)
  if (file.size > maxEpubBytes) throw new BookError(`${file.name} is larger than 200 MB.`)
  const bytes = new Uint8Array(await file.arrayBuffer())
  if (extensionOf(file) === '.epub') return epubBook(bytes)
  const text = textOf(bytes)
  return extensionOf(file) === '.txt' ? textBook(text) : markdownBook(text)
}

function textOf(bytes: Uint8Array): string {
  try {
    return new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new BookError('It is not text in UTF-8.')
  }
}
