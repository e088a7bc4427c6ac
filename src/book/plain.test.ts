import { expect, test } from 'bun:test'
import { pieces } from './pieces.ts'
import { markdownBook, textBook } from './plain.ts'

const titles = (book: { chapters: readonly { title: string }[] }) => book.chapters.map(({ title }) => title)

test('headings of level 1 and 2 are chapters; code, comments and the front matter are not spoken', () => {
  const book = markdownBook(`---
title: "Field notes"
author: Ada
date: 2026-01-01
---
An opening.

# *One* [day](https://example.org) #
Words with \`code\`.

\`\`\`sh
# not a heading
rm -rf /
\`\`\`
<!-- a
comment -->
### Deeper
More.

Two
---
Last, a list:

- item
---
# 

end
`)
  expect([book.title, book.author, titles(book)]).toEqual([
    'Field notes',
    'Ada',
    ['Field notes', 'One day', 'Two', 'Field notes'],
  ])
  expect(book.chapters[1]?.text).toBe('# *One* [day](https://example.org) #\nWords with `code`.\n\n### Deeper\nMore.')
})

test('a text without headings is one chapter, named after its first words', () => {
  expect(titles(markdownBook('Just a few words, nothing else in here at all.'))).toEqual([
    'Just a few words, nothing else in here',
  ])
  expect(() => markdownBook('```\nonly code\n```')).toThrow('There is no text in it to speak.')
  expect(() => textBook(' \n * * * \n')).toThrow('There is no text in it to speak.')
})

test('lines such as "Chapter 4" divide a plain text, unless they form a list or a sentence', () => {
  const book = textBook(
    'Contents\nCHAPTER I\nCHAPTER II\n\nCHAPTER I\n\nPart of the way was dark.\n\nCHAPTER II\n\n' +
      'The end.\n\nPart of it,\n\nthough.',
  )
  expect(titles(book)).toEqual(['Contents CHAPTER I CHAPTER II', 'CHAPTER I', 'CHAPTER II'])
})

test('pieces contain every word in order, keep the limit, and have the longest pause at the end', () => {
  const sentences = Array.from({ length: 120 }, (_, at) => `Sentence number ${at} is here.`)
  const paragraphs = [sentences.slice(0, 3), sentences.slice(3, 100), sentences.slice(100)].map((all) => all.join(' '))
  const text = paragraphs.join('\n\n')
  for (const limit of [40, 300, 4096]) {
    const found = pieces(text, limit)
    expect(Math.max(...found.map((piece) => piece.text.length))).toBeLessThanOrEqual(Math.min(limit, 1500))
    expect(
      found
        .map((piece) => piece.text)
        .join(' ')
        .split(/\s+/),
    ).toEqual(text.split(/\s+/))
    expect(found.at(-1)?.pauseSeconds).toBe(1.8)
  }
  expect(pieces(text, 300)[0]).toEqual({ text: paragraphs[0]!, pauseSeconds: 0.55 })
  expect(pieces('a'.repeat(50), 20).map((piece) => piece.text.length)).toEqual([20, 20, 10])
})
