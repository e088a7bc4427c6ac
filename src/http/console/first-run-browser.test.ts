/** The first minute of a new server in a real browser: a link that signs in, a first sound, recommended models. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser } from 'playwright-core'
import { hasBrowser, launchBrowser, noBrowser } from '../../testing/browser.ts'
import { TestHub } from '../../testing/hub.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { desk, flowMs, phone, startMs, unfit, visitIn } from './browser.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

let instance: Instance
let browser: Browser
let hub: TestHub

beforeAll(async () => {
  if (!hasBrowser) return
  hub = await TestHub.start()
  process.env.HF_ENDPOINT = hub.url
  instance = await startInstance()
  browser = await launchBrowser()
}, startMs)

const hubBefore = process.env.HF_ENDPOINT
afterAll(async () => {
  if (hubBefore === undefined) delete process.env.HF_ENDPOINT
  else process.env.HF_ENDPOINT = hubBefore
  await browser?.close()
  await instance?.[Symbol.asyncDispose]()
  await hub?.stop()
})

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'the link signs in once and disappears from the address; a voice plays; one click requests a model',
  async () => {
    const link = instance.url + (instance.server.signInPath ?? '')
    await using visited = await visitIn(browser, desk, link)
    const { page, faults } = visited
    await page.getByRole('heading', { name: 'Your machine can speak' }).waitFor()
    expect(new URL(page.url()).hash).toBe('#/start')
    const wren = page.getByRole('button', { name: 'Hear Wren' })
    await wren.click()
    await page.getByRole('button', { name: 'Stop Wren' }).waitFor()
    await wren.waitFor()
    // A model can be heard before it is here; one sound at a time.
    await wren.click()
    await page.getByRole('button', { name: 'Stop Wren' }).waitFor()
    await page.getByRole('button', { name: 'Hear Kokoro' }).click()
    await page.getByRole('button', { name: 'Stop Kokoro' }).waitFor()
    await wren.waitFor()
    const offer = page.getByRole('article', { name: 'Pocket TTS', exact: true })
    expect(await offer.innerText()).toMatch(/288 MB, CC-BY-4\.0/)
    await offer.getByRole('button', { name: 'Install Pocket TTS' }).click()
    // The hub of this test has none of its files. The page reports that and offers another try.
    await offer.getByRole('alert').waitFor()
    await offer.getByText('Try again').waitFor()
    expect(hub.requests.length).toBeGreaterThan(0)
    expect(await page.getByRole('button', { name: /^Install recommended \(\d+ MB\)$/ }).count()).toBe(1)
    expect(await unfit(page)).toEqual([])
    expect(faults).toEqual([])
    await using later = await visitIn(browser, phone, link)
    await later.page.getByRole('alert').getByText('This sign-in link was used already').waitFor()
    expect(await unfit(later.page)).toEqual([])
    expect(later.faults).toEqual([expect.stringContaining('401')])
  },
  flowMs,
)
