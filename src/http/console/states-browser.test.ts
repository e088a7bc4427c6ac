/**
 * The console in unusual states: a session that ends, a server that does not answer, pages in the background, many
 * voices and operations, and names that are long or written from right to left.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, BrowserContextOptions, Page, Route } from 'playwright-core'
import { MynaError } from '../../domain/error.ts'
import { keepingLog } from '../../log.ts'
import { hasBrowser, launchBrowser, noBrowser } from '../../testing/browser.ts'
import { hum, type Instance, startInstance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'
import { desk, flowMs, go, phone, startMs, unfit, type Visit, visitIn } from './browser.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

const longName = `AVoiceWithoutAnySpaceInItsName${'AndThenSome'.repeat(6)}`
const arabic = 'سارة من القاهرة'
const reason = `the file onnx/model_quantized.onnx cannot be read: node /encoder/${'layers.11/attention/'.repeat(40)}`
const pageVoices = 60

let instance: Instance
/** With so many voices and operations that lists have pages. */
let crowded: Instance
let browser: Browser

beforeAll(async () => {
  if (!hasBrowser) return
  const many = {
    clonesPerMinute: 1000,
    cloneConcurrency: 100,
    cloneStreams: 4,
    cloneQueue: 100,
    publicPerMinute: 10_000,
  }
  const log = keepingLog(
    () => {},
    'quiet',
    () => Date.now(),
  )
  log.warn('a model cannot be loaded', { model: 'kokoro-82m', cause: reason })
  instance = await startInstance({ ...many, freeClones: 1000 }, { log })
  crowded = await startInstance({ ...many, freeClones: 1000 })
  const description = 'x'.repeat(400)
  for (const name of [longName, arabic, '日本語の朗読者']) {
    await instance.clone(instance.adminKey, { name, description, consent: 'yes' })
  }
  for (let at = 0; at < pageVoices + 3; at++) {
    await crowded.clone(crowded.adminKey, { name: `Voice ${at}`, consent: 'yes' })
  }
  await instance.server.administration.createAccount({ name: arabic, role: 'user', balanceMicros: 5 })
  await instance.server.administration.createKey({
    account: arabic,
    name: longName.slice(0, 64),
    scopes: null,
    expires: '30d',
  })
  browser = await launchBrowser()
}, startMs)

afterAll(async () => {
  await browser?.close()
  await instance?.[Symbol.asyncDispose]()
  await crowded?.[Symbol.asyncDispose]()
})

/** Signed in. @param before gets the page before it is loaded again and signed in */
async function enter(
  options: BrowserContextOptions = desk,
  { before, at = instance }: { before?: (page: Page) => Promise<unknown>; at?: Instance } = {},
): Promise<Visit> {
  const visited = await visitIn(browser, options, at.url)
  const { page } = visited
  if (before !== undefined) {
    await before(page)
    await page.reload()
  }
  await signIn(page, at)
  await page.getByRole('navigation').waitFor()
  return visited
}

async function signIn(page: Page, at = instance): Promise<void> {
  await page.getByLabel('API key').fill(at.adminKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a session that ends in the middle keeps the typed text, and the page continues after signing in',
  async () => {
    await using visited = await enter()
    const { page, faults } = visited
    await page.getByLabel('Text').fill('This was typed before.')
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Speak', exact: true }).click()
    const door = page.getByRole('dialog', { name: 'Your session has ended' })
    await door.waitFor()
    expect(await unfit(page)).toEqual([])
    expect(faults.splice(0)).toEqual([expect.stringContaining('401')])
    await signIn(page)
    await door.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Text').inputValue()).toBe('This was typed before.')
    await page.getByRole('button', { name: 'Speak', exact: true }).click()
    await page.getByText('completed', { exact: true }).waitFor()
    await go(page, 'Voices')
    await page.getByRole('article', { name: arabic }).waitFor()
    await go(page, 'Speak')
    expect(await page.getByLabel('Text').inputValue()).toBe('This was typed before.')
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a server that does not answer is reported, before and after signing in, and retried on demand',
  async () => {
    const away = (route: Route) => route.abort()
    await using door = await visitIn(browser, desk, instance.url)
    await door.page.route('**/console/api/session', away)
    await door.page.reload()
    await door.page.getByRole('alert').getByText('cannot be reached').waitFor()
    await door.page.unroute('**/console/api/session', away)
    await door.page.getByRole('button', { name: 'Try again' }).click()
    await signIn(door.page)
    await door.page.getByRole('navigation').waitFor()
    await door.page.route('**/console/api/**', away)
    await go(door.page, 'Accounts')
    await door.page.getByRole('alert').getByText('cannot be reached').waitFor()
    await door.page.unroute('**/console/api/**', away)
    await door.page.getByRole('button', { name: 'Try again' }).click()
    await door.page.getByRole('row', { name: /admin/ }).first().waitFor()
    expect(await door.page.getByRole('alert').count()).toBe(0)
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a server that comes back is noticed by the page itself',
  async () => {
    await using visited = await enter(desk, { before: (page) => page.clock.install() })
    const { page } = visited
    const away = (route: Route) => route.abort()
    await page.route('**/console/api/**', away)
    await go(page, 'Accounts')
    await page.getByText('This page keeps trying.').waitFor()
    await page.unroute('**/console/api/**', away)
    const account = page.getByRole('row', { name: /admin/ }).first()
    await until('it is noticed', async () => {
      await page.clock.runFor(1000)
      return account.isVisible()
    })
    expect(await page.getByRole('alert').count()).toBe(0)
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a page sends no request in the background, nor before the last answer has arrived',
  async () => {
    await using visited = await enter(desk, { before: (page) => page.clock.install() })
    const { page } = visited
    let asked = 0
    const held = Promise.withResolvers<void>()
    let isSlow = false
    await page.route('**/console/api/admin/server', async (route) => {
      asked += 1
      if (isSlow) await held.promise
      await route.continue()
    })
    let answered = 0
    page.on('requestfinished', (request) => void (request.url().endsWith('/admin/server') && answered++))
    const answer = (count: number) =>
      until(`answer ${count}`, async () => {
        if (answered < count) await page.clock.runFor(1000)
        return answered >= count
      })
    const wait = async () => {
      for (let second = 0; second < 60; second++) await page.clock.runFor(1000)
    }
    const show = async (hidden: boolean) => {
      await page.evaluate(`Object.defineProperty(document, 'hidden', { configurable: true, value: ${hidden} })
        document.dispatchEvent(new Event('visibilitychange'))`)
    }
    await page.clock.pauseAt(Date.now() + 3_600_000)
    await go(page, 'Server')
    await answer(2)
    await show(true)
    await wait()
    expect(asked).toBe(2)
    await show(false)
    await answer(3)
    isSlow = true
    await until('a request waits', async () => {
      if (asked < 4) await page.clock.runFor(1000)
      return asked === 4
    })
    await wait()
    expect(asked).toBe(4)
    held.resolve()
    await answer(4)
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'voices are loaded page by page, and a search runs once it has been typed',
  async () => {
    await using visited = await enter(desk, { before: (page) => page.clock.install(), at: crowded })
    const { page, faults } = visited
    await go(page, 'Voices')
    const listed = await crowded.fetch('/v1/voices?limit=1', { key: crowded.adminKey })
    const { total_count: total } = (await listed.json()) as { total_count: number }
    expect(total).toBeGreaterThan(pageVoices + 3)
    await page.getByText(`${pageVoices} of ${total} voices`).waitFor()
    expect(await page.getByRole('article').count()).toBe(pageVoices)
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText(`${total} voices`).waitFor()
    expect(await page.getByRole('article').count()).toBe(total)
    const sought: (string | null)[] = []
    page.on('request', (request) => {
      const { pathname, searchParams } = new URL(request.url())
      if (pathname === '/v1/voices') sought.push(searchParams.get('search'))
    })
    await page.clock.pauseAt(Date.now() + 3_600_000)
    await page.getByLabel('Search voices').pressSequentially('Voice 17')
    const found = page.getByText('1 voice', { exact: true })
    await until('it is found', async () => {
      await page.clock.runFor(100)
      return found.isVisible()
    })
    await page.getByRole('article', { name: 'Voice 17' }).waitFor()
    expect(sought).toEqual(['Voice 17'])
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'operations are shown page by page, from the newest to the oldest and back',
  async () => {
    await using visited = await enter(desk, { at: crowded })
    const { page, faults } = visited
    await go(page, 'Operations')
    const table = page.getByRole('region', { name: 'Operations' })
    const last = async () => (await table.locator('tbody tr').last().locator('code').getAttribute('title')) ?? ''
    await table.locator('code').first().waitFor()
    const seen = [await last()]
    for (const number of [2, 3]) {
      await page.getByRole('button', { name: 'Older' }).click()
      await page.getByText(`Page ${number}`).waitFor()
      await until(`page ${number} is shown`, async () => (await last()) !== seen.at(-1))
      seen.push(await last())
    }
    expect(seen).toEqual(seen.toSorted().reverse())
    await page.getByRole('button', { name: 'Newer' }).click()
    await until('the second page is shown again', async () => (await last()) === seen[1])
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a voice that is made in the background is announced when it is ready, and another when it fails',
  async () => {
    await using visited = await enter()
    const { page, faults } = visited
    const [good, bad] = [Promise.withResolvers<Uint8Array>(), Promise.withResolvers<Uint8Array>()]
    const { learn } = instance.engine
    await go(page, 'Voices')
    for (const name of ['Slow', 'Hopeless']) {
      instance.engine.learn = () => (name === 'Slow' ? good : bad).promise
      await page.getByRole('button', { name: 'Clone a voice' }).click()
      const form = page.getByRole('dialog', { name: 'Clone a voice' })
      const buffer = Buffer.from(await hum(4).bytes())
      await form.getByLabel('Audio or video file').setInputFiles({ name: 'clip.wav', mimeType: 'audio/wav', buffer })
      await form.getByLabel('Name', { exact: true }).fill(name)
      await form.getByLabel(/I am this person/).check()
      await form.getByRole('button', { name: 'Create voice' }).click()
      await page.getByRole('button', { name: 'Continue in background' }).click()
      await page.getByRole('article', { name }).getByText('being created').waitFor()
    }
    good.resolve(new TextEncoder().encode('state'))
    await page.getByRole('status').getByText('Slow is ready.').waitFor()
    await page.getByRole('article', { name: 'Slow' }).getByText('yours').waitFor()
    bad.reject(new MynaError('clip_refused', 'Nothing could be learnt from it.'))
    await page.getByRole('status').getByText('Hopeless could not be created.').waitFor()
    const failed = page.getByRole('article', { name: 'Hopeless' })
    await failed.getByText('Delete this voice and try another clip.').waitFor()
    instance.engine.learn = learn
    expect(faults).toEqual([])
  },
  flowMs,
)

const narrow: BrowserContextOptions = { viewport: { width: 320, height: 640 }, colorScheme: 'light' }
const zoomed: BrowserContextOptions = {
  viewport: { width: 720, height: 450 },
  colorScheme: 'light',
  deviceScaleFactor: 2,
}
const pages = ['Voices', 'Connect', 'Usage', 'Operations', 'Models', 'Accounts', 'Server']
const screens: [string, BrowserContextOptions][] = [
  ['a phone', phone],
  ['the narrowest phone', narrow],
  ['a page at 200 %', zoomed],
]

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser).each(screens)(
  'long names, other scripts and long reasons fit %s',
  async (_, options) => {
    await using visited = await enter(options)
    const { page, faults } = visited
    for (const name of pages) {
      await go(page, name)
      await page.getByRole('heading', { level: 1, name }).waitFor()
      await page.waitForLoadState('networkidle')
      const over = await page.evaluate<number>('document.scrollingElement.scrollWidth - innerWidth')
      expect({ name, over: Math.max(0, over), unfit: await unfit(page) }).toEqual({ name, over: 0, unfit: [] })
    }
    const warning = page.getByRole('listitem').filter({ hasText: 'a model cannot be loaded' })
    expect(await warning.innerText()).toContain('kokoro-82m')
    const told = warning.getByText(reason)
    const cut = await told.evaluate(
      (node) => (node as unknown as { scrollWidth: number; clientWidth: number }).scrollWidth,
    )
    expect(cut).toBeLessThanOrEqual((await told.boundingBox())?.width ?? 0)
    expect(faults).toEqual([])
  },
  flowMs,
)
