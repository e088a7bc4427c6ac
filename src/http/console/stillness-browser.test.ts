/**
 * Nothing jumps while a page loads: Chromium's own measure (layout shift) of every page on a slow connection, whose
 * answers come one by one.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { hasBrowser, launchBrowser, noBrowser } from '../../testing/browser.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { desk, flowMs, phone, startMs, visitIn } from './browser.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

let instance: Instance
let browser: Browser

beforeAll(async () => {
  if (!hasBrowser) return
  instance = await startInstance({ publicPerMinute: 10_000, requestsPerMinute: 10_000 })
  for (let at = 0; at < 3; at++) await (await instance.speak(instance.adminKey)).bytes()
  await instance.clone(instance.adminKey, { name: 'Ada', consent: 'yes' })
  await instance.key({ account: 'ada', prepaidMicros: 5_000_000 })
  browser = await launchBrowser()
}, startMs)

afterAll(async () => {
  await browser?.close()
  await instance?.[Symbol.asyncDispose]()
})

/** Runs in the page, before its own script. */
const watch = `
window.shifts = []
const nameOf = ({ node, previousRect: from, currentRect: to }) =>
  (node?.className || node?.nodeName) + ' from ' + [from.x, from.y, from.width, from.height].map(Math.round) + ' to ' +
  [to.x, to.y, to.width, to.height].map(Math.round)
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries()) shifts.push({ value, what: sources.map(nameOf) })
}).observe({ type: 'layout-shift', buffered: true })`

interface Screen {
  width: number
  height: number
}

interface Shift {
  value: number
  what: string[]
}

const painted = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))'

/** Answers come one after the other, and what is between two of them is painted. */
async function oneByOne(page: Page): Promise<void> {
  let last: Promise<unknown> = Promise.resolve()
  await page.route(/\/(v1|console\/api)\//, async (route) => {
    const response = await route.fetch()
    last = last.then(() => page.evaluate(painted))
    await last
    await route.fulfill({ response })
  })
}

/** How a page moved, from its first paint to its last. */
async function shiftsOf(door: Page, address: string, screen: Screen): Promise<Shift[]> {
  const page = await door.context().newPage()
  try {
    await page.setViewportSize(screen)
    await page.addInitScript(watch)
    await oneByOne(page)
    await page.goto(`${instance.url}/console${address}`)
    await page.getByRole('navigation').waitFor()
    await page.waitForLoadState('networkidle')
    return await page.evaluate<Shift[]>('shifts')
  } finally {
    // A page asks again and again, and an answer on its way would come to a page that is closed.
    await page.unrouteAll({ behavior: 'ignoreErrors' })
    await page.close()
  }
}

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'no page moves what is there already while the rest of it loads, on a desk and on a phone',
  async () => {
    await using visited = await visitIn(browser, desk, instance.url)
    const { page: door } = visited
    await door.getByLabel('API key').fill(instance.adminKey)
    await door.getByRole('button', { name: 'Sign in' }).click()
    await door.getByRole('navigation').waitFor()
    const addresses = await door.evaluate<string[]>(
      `[...document.querySelectorAll('nav a[href^="#/"]')].map((link) => link.getAttribute('href'))`,
    )
    expect(addresses.length).toBeGreaterThan(8)
    const moved: Record<string, Shift[]> = {}
    for (const { viewport } of [desk, phone]) {
      for (const address of new Set(addresses)) {
        const shifts = await shiftsOf(door, address, viewport!)
        if (shifts.length > 0) moved[`${address} ${viewport!.width}`] = shifts
      }
    }
    expect(moved).toEqual({})
  },
  flowMs,
)
