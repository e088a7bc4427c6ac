/**
 * A voice's preview in a real browser, on a page of another origin, in a bare `<audio>` element: no script of ours
 * fetches it, no credential is sent, and a listener may seek in it. A browser only seeks if the server answers ranges,
 * so a server without them would fail here.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page, Response as PageResponse } from 'playwright-core'
import { hasBrowser, launchBrowser, noBrowser } from '../../testing/browser.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Program, startProgram } from '../../testing/program.ts'

if (!hasBrowser) console.log(noBrowser)
const startMs = 60_000

let program: Program
let browser: Browser
let pages: ReturnType<typeof servePages>

/** Runs in the page: what a listener does. Each step ends when the element reports it. */
const listening = `
  const audio = document.querySelector('audio')
  const loaded = () => new Promise((resolve, reject) => {
    const fail = () => reject(new Error('cannot play: ' + audio.error.code))
    if (audio.error !== null) fail()
    if (audio.readyState >= 1) resolve(audio.duration)
    audio.onerror = fail
    audio.onloadedmetadata = () => resolve(audio.duration)
  })
  const playUntil = async (seconds) => {
    await audio.play()
    return new Promise((resolve) => {
      audio.ontimeupdate = audio.onended = () => {
        if (audio.currentTime < seconds && !audio.ended) return
        audio.pause()
        resolve(audio.currentTime)
      }
    })
  }
  const seek = (seconds) => new Promise((resolve) => {
    audio.onseeked = () => resolve(audio.currentTime)
    audio.currentTime = seconds
  })
  const seekableTo = () => (audio.seekable.length === 0 ? 0 : audio.seekable.end(0))
  const read = async (source) => {
    const answer = await fetch(source)
    return [answer.status, answer.headers.get('content-type'), (await answer.arrayBuffer()).byteLength]
  }
  const widthOf = (source) => new Promise((resolve, reject) => {
    const image = new Image()
    image.onload = () => resolve(image.naturalWidth)
    image.onerror = () => reject(new Error('no picture at ' + source))
    image.src = source
  })`

/** The other origin: a page with nothing but the element, its source given in the query. */
const servePages = () =>
  Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const source = Bun.escapeHTML(new URL(request.url).searchParams.get('source') ?? '')
      const body = `<audio src="${source}" controls></audio><script>${listening}</script>`
      return new Response(`<!doctype html><title>a page</title>${body}`, { headers: { 'content-type': 'text/html' } })
    },
  })

beforeAll(async () => {
  if (!hasBrowser) return
  pages = servePages()
  program = await startProgram(temporaryFolder())
  browser = await launchBrowser()
}, startMs)

afterAll(async () => {
  await browser?.close()
  await program?.end()
  await pages?.stop(true)
})

interface Visit {
  page: Page
  /** What the server under test answered to the page. */
  answers: PageResponse[]
}

async function visit(source: string): Promise<Visit> {
  const page = await browser.newPage()
  const answers: PageResponse[] = []
  page.on('response', (answer) => {
    if (answer.url().startsWith(program.url)) answers.push(answer)
  })
  await page.goto(`${pages.url.href}?source=${encodeURIComponent(source)}`)
  return { page, answers }
}

// Skipped where no Chromium is installed; the output says so.
test.skipIf(!hasBrowser).each(['wav', 'mp3', 'opus'])(
  'a preview plays and seeks, both ways, as %s',
  async (format) => {
    const { page, answers } = await visit(`${program.url}/v1/voices/lark/preview?response_format=${format}`)
    const duration = await page.evaluate<number>('loaded()')
    expect(duration).toBeGreaterThan(2.5)
    expect(duration).toBeLessThan(11)
    expect(await page.evaluate<number>('seekableTo()')).toBeCloseTo(duration, 1)
    expect(await page.evaluate<number>('playUntil(0.3)')).toBeGreaterThanOrEqual(0.3)
    const nearEnd = duration - 0.5
    expect(await page.evaluate<number>(`seek(${nearEnd})`)).toBeCloseTo(nearEnd, 1)
    expect(await page.evaluate<number>('playUntil(Infinity)')).toBeCloseTo(duration, 1)
    expect(await page.evaluate<number>('seek(0.2)')).toBeCloseTo(0.2, 1)
    expect(await page.evaluate<number>('playUntil(0.5)')).toBeLessThan(nearEnd)
    expect(answers.map((answer) => answer.status()).filter((status) => status !== 206)).toEqual([])
    expect(answers[0]?.request().headers()).not.toHaveProperty('authorization')
    await page.close()
  },
  startMs,
)

// Skipped where no Chromium is installed.
test.skipIf(!hasBrowser)('a page may read a public preview, and shows its picture', async () => {
  const preview = `${program.url}/v1/voices/lark/preview`
  const { page } = await visit(preview)
  expect(await page.evaluate<unknown[]>(`read('${preview}')`)).toEqual([200, 'audio/wav', expect.any(Number)])
  expect(await page.evaluate<number>(`widthOf('${preview}.png')`)).toBeGreaterThan(200)
  expect(await page.evaluate<number>(`widthOf('${preview}.webp?theme=dark')`)).toBeGreaterThan(200)
  await page.close()
})

// Skipped where no Chromium is installed.
test.skipIf(!hasBrowser)('a private voice does not play, and a page cannot read why', async () => {
  const path = '/v1/voices/voice_01ARZ3NDEKTSV4RRFFQ69G5FAV/preview'
  expect((await program.fetch(path)).status).toBe(401)
  const preview = program.url + path
  const { page } = await visit(preview)
  const outcome = (script: string) =>
    page.evaluate(script).then(
      () => 'done',
      (error: unknown) => String(error),
    )
  // 4 is MEDIA_ERR_SRC_NOT_SUPPORTED, which browsers also report for an answer that is not audio.
  expect(await outcome('loaded()')).toContain('cannot play: 4')
  expect(await outcome(`read('${preview}')`)).toContain('Failed to fetch')
  await page.close()
})
