/** A file that `myna speak` reads instead of a text: the supported kinds, and reading them. */
import { existsSync } from 'node:fs'
import { readFile, stat } from 'node:fs/promises'
import { extname } from 'node:path'
import { type Book, BookError } from '../../book/book.ts'
import { epubBook, maxEpubBytes } from '../../book/epub.ts'
import { markdownBook, textBook } from '../../book/plain.ts'
import { Failure } from '../terminal/terminal.ts'

const readers: Readonly<Record<string, (bytes: Uint8Array) => Book | Promise<Book>>> = {
  '.epub': epubBook,
  '.md': (bytes) => markdownBook(textOf(bytes)),
  '.markdown': (bytes) => markdownBook(textOf(bytes)),
  '.txt': (bytes) => textBook(textOf(bytes)),
}

/** Whether it names a document rather than being the text: a sentence may end with a file's name. */
export const namesDocument = (given: string): boolean =>
  readers[extname(given).toLowerCase()] !== undefined && (!/\s/.test(given) || existsSync(given))

/** @throws Failure `cannot_read`, `unreadable_document` */
export async function readDocument(path: string): Promise<Book> {
  const found = await stat(path).catch((error: Error & { code?: string }) => {
    const why = error.code === 'ENOENT' ? `There is no file ${path}.` : `Cannot read ${path}: ${error.message}`
    throw new Failure(why, 'cannot_read')
  })
  if (!found.isFile()) throw new Failure(`Cannot read ${path}: not a regular file.`, 'cannot_read')
  if (found.size > maxEpubBytes) throw new Failure(`${path} is larger than 200 MB.`, 'unreadable_document')
  try {
    return await readers[extname(path).toLowerCase()]!(await readFile(path))
  } catch (error) {
    if (error instanceof BookError) throw new Failure(`${path}: ${error.message}`, 'unreadable_document')
    throw error
  }
}

function textOf(bytes: Uint8Array): string {
  const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe
  try {
    return new TextDecoder(isUtf16 ? 'utf-16le' : 'utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new BookError('It is not text in UTF-8.')
  }
}
