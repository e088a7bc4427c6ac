/** A small complete EPUB; each test changes one thing in it. */
import { type ZipEntry, zipOf } from '../testing/archives.ts'

const page = (body: string): string =>
  `<?xml version="1.0" encoding="utf-8"?><!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"
  xmlns:epub="http://www.idpf.org/2007/ops"><head><title>Not spoken</title><style>p { color: red }</style></head>
  <body>${body}</body></html>`

const bookFiles: Readonly<Record<string, string>> = {
  mimetype: 'application/epub+zip',
  'META-INF/container.xml': `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>
    <rootfile full-path="OEBPS/book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>`,
  'OEBPS/book.opf': `<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">
    <metadata><dc:title>Birds &amp; Caf&#233;s</dc:title><dc:creator>Ada Swift</dc:creator></metadata>
    <manifest>
      <item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>
      <item id="cover" href="cover.xhtml" media-type="application/xhtml+xml"/>
      <item id="one" href="text/one%20page.xhtml" media-type="application/xhtml+xml"/>
      <item id="two" href="text/two.xhtml" media-type="application/xhtml+xml"/>
      <item id="notes" href="text/notes.xhtml" media-type="application/xhtml+xml"/>
    </manifest>
    <spine><itemref idref="cover" linear="no"/><itemref idref="nav"/><itemref idref="one"/><itemref idref="two"/>
      <itemref idref="notes" linear="no"/></spine></package>`,
  'OEBPS/nav.xhtml': page(`<nav epub:type="toc"><h1>Contents</h1><ol><li><a href="text/one%20page.xhtml">One:
    <i>the</i> myna</a></li><li><a href="text/two.xhtml#second">Two</a></li>
    <li><a href="text/two.xhtml#third">Three</a></li></ol></nav>
    <nav epub:type="landmarks"><a href="cover.xhtml">Cover</a></nav>`),
  'OEBPS/cover.xhtml': page('<p>A cover nobody hears.</p>'),
  'OEBPS/text/one page.xhtml': page(`<h2>One</h2><p>The myna<sup><a epub:type="noteref" href="n">1</a></sup>
    sings &mdash; and
    so does the <em>caf&eacute;</em>.</p><p>It is 5 &lt; 6.<!-- hidden --><br/>Next line.</p>`),
  'OEBPS/text/two.xhtml': page(`<section id="second"><h2>Two</h2><span epub:type="pagebreak" id="p7">7</span>
    <p>Second text.</p><script>alert(1)</script></section><p><a id="third"></a>Third text.</p>
    <aside epub:type="footnote"><p>A note.</p></aside>`),
  'OEBPS/text/notes.xhtml': page('<p>Notes.</p>'),
}

/** @param change files that differ; null: the file is missing */
export function epubOf(change: Readonly<Record<string, string | null>> = {}): Uint8Array {
  const files = Object.entries({ ...bookFiles, ...change })
  const entries = files.flatMap(([name, content]): ZipEntry[] =>
    content === null ? [] : [{ name, content: Buffer.from(content), isCompressed: name !== 'mimetype' }],
  )
  return zipOf(entries)
}
