import { describe, expect, test } from 'bun:test'
import { zipOf } from '../testing/archives.ts'
import { epubOf } from './book.fixture.ts'
import { epubBook } from './epub.ts'
import { openZip } from './zip.ts'

const failure = (bytes: Uint8Array): Promise<string> =>
  epubBook(bytes).then(
    () => 'read',
    (error: Error) => `${error.name}: ${error.message}`,
  )

test('chapters are those of the table of contents, without notes and page numbers', async () => {
  expect(await epubBook(epubOf())).toEqual({
    title: 'Birds & Cafés',
    author: 'Ada Swift',
    chapters: [
      {
        title: 'One: the myna',
        text: 'One\n\nThe myna sings — and so does the café.\n\nIt is 5 < 6.\n\nNext line.',
      },
      { title: 'Two', text: 'Two\n\nSecond text.' },
      { title: 'Three', text: 'Third text.' },
    ],
  })
})

test('the contents of EPUB 2 (NCX) are used as well', async () => {
  const ncx = `<ncx><docTitle><text>B</text></docTitle><navMap><navPoint><navLabel><text>First
    part</text></navLabel><content src="text/one%20page.xhtml"/><navPoint><navLabel><text>Inner</text></navLabel>
    <content src="text/two.xhtml#third"/></navPoint></navPoint></navMap></ncx>`
  const opf = `<package><metadata><title>B</title></metadata><manifest>
    <item id="a" href="text/one%20page.xhtml" media-type="application/xhtml+xml"/>
    <item id="b" href="text/two.xhtml" media-type="application/xhtml+xml"/>
    <item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/></manifest>
    <spine toc="ncx"><itemref idref="a"/><itemref idref="b"/></spine></package>`
  const { chapters } = await epubBook(epubOf({ 'OEBPS/book.opf': opf, 'OEBPS/toc.ncx': ncx, 'OEBPS/nav.xhtml': null }))
  expect(chapters.map(({ title }) => title)).toEqual(['First part', 'Inner'])
  expect(chapters[0]?.text).toEndWith('Two\n\nSecond text.')
})

test('without a table of contents, headings begin chapters; without headings, every page does', async () => {
  const item = (id: string) => `<item id="${id}" href="${id}.html" media-type="text/html"/>`
  const opf = `<package><manifest>${item('a')}${item('b')}</manifest>
    <spine><itemref idref="a"/><itemref idref="b"/></spine></package>`
  const read = async (files: Record<string, string>) =>
    (await epubBook(epubOf({ 'OEBPS/book.opf': opf, ...files }))).chapters
  const headed = await read({
    'OEBPS/a.html': '<p>Before.</p><h1>A</h1><p>x</p><h3>minor</h3><p>y</p>',
    'OEBPS/b.html': '<h2>B</h2><p>z',
  })
  expect(headed.map(({ title, text }) => [title, text])).toEqual([
    ['Beginning', 'Before.'],
    ['A', 'A\n\nx\n\nminor\n\ny'],
    ['B', 'B\n\nz'],
  ])
  const bare = await read({ 'OEBPS/a.html': '<p>First page.</p><p>More.</p>', 'OEBPS/b.html': '<p>Second page.</p>' })
  expect(bare.map(({ title }) => title)).toEqual(['First page.', 'Second page.'])
})

describe('refuses an unreadable book with an explanation', () => {
  const cases: [string, () => Uint8Array, string][] = [
    ['not a zip', () => Buffer.from('hello'), 'not a zip archive'],
    ['empty', () => new Uint8Array(0), 'not a zip archive'],
    ['another zip', () => zipOf([{ name: 'a.txt', content: Buffer.from('a') }]), 'META-INF/container.xml is missing'],
    ['no package', () => epubOf({ 'OEBPS/book.opf': null }), 'OEBPS/book.opf is missing'],
    ['a page that is missing', () => epubOf({ 'OEBPS/text/two.xhtml': null }), 'text/two.xhtml is missing'],
    ['no pages', () => epubOf({ 'OEBPS/book.opf': '<package/>' }), 'lists no pages'],
    ['no words', () => epubOf({ 'OEBPS/text/one page.xhtml': '<p>', 'OEBPS/text/two.xhtml': '* * *' }), 'no text'],
    [
      'copy protection',
      () =>
        epubOf({
          'META-INF/encryption.xml': `<encryption><enc:EncryptedData><enc:CipherData>
            <enc:CipherReference URI="OEBPS/text/two.xhtml"/></enc:CipherData></enc:EncryptedData></encryption>`,
        }),
      'copy-protected (DRM)',
    ],
    [
      'a page of 40 MB',
      () => epubOf({ 'OEBPS/text/two.xhtml': `<p>${'a'.repeat(40 * 1024 * 1024)}</p>` }),
      'is too large',
    ],
    [
      'a book without an end',
      () => epubOf({ 'OEBPS/text/two.xhtml': `<p>${'a b '.repeat(2_500_000)}</p>` }),
      'at most',
    ],
  ]
  test.each(cases)('%s', async (_, bytes, words) => {
    const said = await failure(bytes())
    expect(said).toStartWith('BookError: ')
    expect(said).toContain(words)
  })
})

test('scrambled fonts do not count as copy protection', async () => {
  const fonts = '<encryption><CipherReference URI="OEBPS/font.otf"/></encryption>'
  expect((await epubBook(epubOf({ 'META-INF/encryption.xml': fonts }))).chapters.length).toBe(3)
})

test('detects a false size in an archive, whether too large or too small', async () => {
  const content = Buffer.from('a'.repeat(100_000))
  for (const claimedBytes of [10, 99_999, 100_001, 15_000_000]) {
    const zip = openZip(zipOf([{ name: 'x', content, claimedBytes }]))
    expect(await zip.read('x').catch((error: Error) => error.message)).toBe('The archive is damaged.')
  }
})

test('every damaged byte and every cut of an archive leads to a message, never to another error', async () => {
  const whole = epubOf()
  const outcomes = new Set<string>()
  for (let at = 0; at < whole.length; at += 3) {
    const damaged = whole.slice()
    damaged[at] = damaged[at]! ^ 0x55
    for (const bytes of [damaged, whole.slice(0, at)]) outcomes.add((await failure(bytes)).split(':')[0]!)
  }
  expect([...outcomes].sort()).toEqual(['BookError', 'read'])
})

test('hostile markup is read in time that grows linearly with its length', async () => {
  const hostile = ['<a '.repeat(300_000), `<p ${'x'.repeat(900_000)}>`, '&'.repeat(900_000), '<div>'.repeat(200_000)]
  const lolz = '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><p>&b; is not expanded</p>'
  const before = process.cpuUsage()
  for (const page of hostile) await epubBook(epubOf({ 'OEBPS/text/two.xhtml': `${page}` }))
  expect(process.cpuUsage(before).user / 1e6).toBeLessThan(10)
  const { chapters } = await epubBook(epubOf({ 'OEBPS/text/two.xhtml': lolz }))
  expect(chapters.at(-1)?.text).toContain('&b; is not expanded')
})
