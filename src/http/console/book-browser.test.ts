/** A book on the Speak page, in a real browser against the compiled executable; ffprobe reads the result. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { epubOf } from '../../book/book.fixture.ts'
import { hasBrowser, noBrowser } from '../../testing/browser.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { flowMs, go, phone, type Scene, startMs, startScene, unfit } from './browser.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

let scene: Scene
beforeAll(async () => {
  if (hasBrowser) scene = await startScene()
}, startMs)
afterAll(() => scene?.end())

const book = { name: 'birds.epub', mimeType: 'application/epub+zip', buffer: Buffer.from(epubOf()) }

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'an EPUB becomes one MP3 with chapter marks, without the deselected chapters',
  async () => {
    await using visited = await scene.signedIn()
    const { page, faults } = visited
    await page.goto(`${scene.program.url}/console#/speak`)
    const desk = page.getByRole('region', { name: 'Book' })
    await desk.getByLabel('Book or document').setInputFiles(book)
    await desk.getByRole('heading', { name: 'Birds & Cafés' }).waitFor()
    await desk.getByText('3 chapters').waitFor()
    await desk.getByLabel('Two').uncheck()
    await desk.getByText('2 chapters').waitFor()
    expect(await unfit(page)).toEqual([])
    await desk.getByRole('button', { name: 'Read it aloud' }).click()
    // It continues while another page is open.
    await go(page, 'Voices')
    await go(page, 'Speak')
    const download = page.waitForEvent('download')
    await desk.getByRole('link', { name: /Download birds\.mp3/ }).click()
    const path = join(temporaryFolder(), 'birds.mp3')
    await (await download).saveAs(path)
    // Whole, it is in the history, and the desk is free after a reload.
    const taken = page.getByRole('region', { name: 'History' }).getByRole('listitem')
    expect(await taken.innerText()).toMatch(/^Birds & Cafés\s+.* · 2 chapters$/)
    await page.reload()
    await taken.getByRole('button', { name: 'Play: Birds & Cafés' }).click()
    await page.getByRole('region', { name: 'Player' }).getByText('Birds & Cafés').waitFor()
    await desk.getByText('Choose a book').waitFor()
    expect(faults).toEqual([])
    const ffprobe = Bun.which('ffprobe')
    if (ffprobe === null) return
    const flags = ['-v', 'error', '-of', 'json', '-show_chapters', '-show_format']
    const { stdout, stderr } = Bun.spawnSync([ffprobe, ...flags, path])
    expect(stderr.toString()).toBe('')
    const { chapters, format } = JSON.parse(stdout.toString()) as {
      chapters: { start_time: string; end_time: string; tags: { title: string } }[]
      format: { duration: string; tags: Record<string, string> }
    }
    expect(chapters.map(({ tags }) => tags.title)).toEqual(['One: the myna', 'Three'])
    expect(chapters[1]?.start_time).toBe(chapters[0]?.end_time ?? '')
    expect(Number(chapters[1]?.end_time)).toBeCloseTo(Number(format.duration), 0)
    expect(format.tags).toMatchObject({ title: 'Birds & Cafés', artist: 'Ada Swift' })
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a file that is not a book is refused with a reason, and a paused book continues, on a phone too',
  async () => {
    await using visited = await scene.signedIn(phone)
    const { page, faults } = visited
    await page.goto(`${scene.program.url}/console#/speak`)
    const desk = page.getByRole('region', { name: 'Book' })
    const choose = (name: string, text: string) =>
      desk.getByLabel('Book or document').setInputFiles({ name, mimeType: '', buffer: Buffer.from(text) })
    await choose('broken.epub', 'no book at all')
    await desk.getByRole('alert').getByText('It is not a zip archive, as every EPUB is.').waitFor()
    await choose('short.txt', 'A short text.\n')
    await page.getByText('13 characters').waitFor()
    expect(await page.getByLabel('Text', { exact: true }).inputValue()).toBe('A short text.')
    const chapters = Array.from({ length: 12 }, (_, at) => `# Number ${at}\n\nThese are some words of part ${at}.`)
    await choose('notes.md', chapters.join('\n\n'))
    await desk.getByText('12 chapters').waitFor()
    expect(await unfit(page)).toEqual([])
    const over = await page.evaluate<number>('document.scrollingElement.scrollWidth - innerWidth')
    expect(Math.max(0, over)).toBe(0)
    // The second chapter waits for the pause: otherwise the book may be spoken before the button is found.
    const paused = Promise.withResolvers<void>()
    let asked = 0
    await page.route('**/v1/audio/speech', async (route) => {
      if (++asked > 1) await paused.promise
      await route.continue()
    })
    await desk.getByRole('button', { name: 'Read it aloud' }).click()
    await desk.getByText('Chapter 2 of 12').waitFor()
    await desk.getByRole('button', { name: 'Pause' }).click()
    await desk.getByRole('button', { name: 'Continue' }).waitFor()
    const unrouted = page.unrouteAll({ behavior: 'ignoreErrors' })
    paused.resolve()
    await unrouted
    const done = desk.getByRole('progressbar', { name: 'The book' })
    const before = Number(await done.getAttribute('value'))
    expect(before).toBeCloseTo(1 / 12, 6)
    const spoken = new Set<string>()
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/audio/speech')) spoken.add(request.postData() ?? '')
    })
    // Nothing that was spoken is lost or spoken again.
    await page.reload()
    await desk.getByRole('heading', { name: 'Number 0' }).waitFor()
    expect(Number(await done.getAttribute('value'))).toBe(before)
    await desk.getByRole('button', { name: 'Continue' }).click()
    await desk.getByRole('link', { name: /Download notes\.mp3/ }).waitFor()
    await desk.getByText('12 chapters').waitFor()
    expect(spoken.size).toBe(Math.round(12 * (1 - before)))
    await desk.getByRole('button', { name: 'Close the book' }).click()
    await desk.getByText('Choose a book').waitFor()
    expect(faults).toEqual([])
  },
  flowMs,
)
