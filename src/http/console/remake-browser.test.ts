/** A clone whose model was removed, on the page of voices: the page reports it, and the clone is made again there. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { cards } from '../../catalog/cards.ts'
import { CardCatalog } from '../../catalog/catalog.ts'
import type { Card } from '../../domain/card.ts'
import { MynaError } from '../../domain/error.ts'
import { hasBrowser, launchBrowser, noBrowser } from '../../testing/browser.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { desk, flowMs, go, startMs, unfit, visitIn } from './browser.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

const hibari = cards.find(({ id }) => id === 'hibari')!
/** A preferred model that clones, until it is removed. */
const removed: Card = { ...hibari, id: 'old-model', preference: 50, voices: [], defaultVoice: null }

let instance: Instance
let browser: Browser
let isThere = true
beforeAll(async () => {
  if (!hasBrowser) return
  const catalog = new CardCatalog(
    () => (isThere ? [hibari, removed] : [hibari]),
    () => false,
  )
  instance = await startInstance({}, { catalog })
  await instance.cloned(instance.adminKey, { name: 'Ada' })
  isThere = false
  browser = await launchBrowser()
}, startMs)
afterAll(async () => {
  await browser?.close()
  await instance?.[Symbol.asyncDispose]()
})

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a silent voice cannot be used, a failure gives the reason, and the next try makes it speak',
  async () => {
    await using visited = await visitIn(browser, desk, instance.url)
    const { page, faults } = visited
    await page.getByLabel('API key').fill(instance.adminKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await go(page, 'Voices')
    const card = page.getByRole('article', { name: 'Ada' })
    await card.getByText('The model old-model is not installed any more').waitFor()
    expect(await card.getByRole('button', { name: 'Use Ada' }).count()).toBe(0)
    expect(await unfit(page)).toEqual([])
    const { learn } = instance.engine
    instance.engine.learn = () => Promise.reject(new MynaError('clip_refused', 'Nothing could be learnt from it.'))
    await card.getByRole('button', { name: 'Make again' }).click()
    await card.getByRole('alert').getByText('Nothing could be learnt from it.').waitFor()
    instance.engine.learn = learn
    await card.getByRole('button', { name: 'Make again' }).click()
    await card.getByRole('button', { name: 'Use Ada' }).waitFor()
    expect(await card.getByText('not installed any more').count()).toBe(0)
    expect(faults).toEqual([])
  },
  flowMs,
)
