/** The page that listens offers a translation only where an installed model can make one, and says what would help. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { CardCatalog } from '../../catalog/catalog.ts'
import { cards } from '../../catalog/cards.ts'
import { hasBrowser, launchBrowser, noBrowser } from '../../testing/browser.ts'
import { hum, type Instance, startInstance } from '../../testing/instance.ts'
import { desk, flowMs, go, startMs, unfit, visitIn } from './browser.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

let browser: Browser
beforeAll(async () => {
  if (hasBrowser) browser = await launchBrowser()
}, startMs)
afterAll(() => browser?.close())

const withModels = (...ids: string[]): Promise<Instance> =>
  startInstance({}, { catalog: new CardCatalog(cards, ({ id }) => ids.includes(id)) })

async function enter({ url }: Instance, key: string, prepare: (page: Page) => Promise<unknown> = async () => {}) {
  const visit = await visitIn(browser, desk, url)
  await prepare(visit.page)
  await visit.page.getByLabel('API key').fill(key)
  await visit.page.getByRole('button', { name: 'Sign in' }).click()
  await visit.page.getByRole('navigation').waitFor()
  await go(visit.page, 'Transcribe')
  return visit
}

const translation = (page: Page) => page.getByRole('checkbox', { name: 'into English' })

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'where no model translates, the page says so, and where to get one',
  async () => {
    await using instance = await withModels()
    await using owner = await enter(instance, instance.adminKey)
    await owner.page.getByText('No model here can.').waitFor()
    expect(await translation(owner.page).isDisabled()).toBe(true)
    expect(await unfit(owner.page)).toEqual([])
    await owner.page.getByRole('link', { name: 'Install Whisper base' }).click()
    await owner.page.getByRole('heading', { name: 'Models', level: 1 }).waitFor()
    await using guest = await enter(instance, await instance.key())
    await guest.page.getByText('No model of this server can.').waitFor()
    expect([...owner.faults, ...guest.faults]).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a translation needs a model that translates, chosen by name or automatically',
  async () => {
    await using instance = await withModels('whisper-base')
    await using visit = await enter(instance, instance.adminKey)
    const { page } = visit
    await page.getByRole('option', { name: 'Whisper base' }).waitFor({ state: 'attached' })
    await translation(page).check()
    await page.getByLabel('Model').selectOption('moonshine-tiny-en')
    await page.getByText('This model cannot. Choose Automatic.').waitFor()
    expect(await translation(page).isDisabled()).toBe(true)
    expect(await page.getByLabel('Language').isEnabled()).toBe(true)
    await page.getByLabel('Model').selectOption('whisper-base')
    expect(await translation(page).isChecked()).toBe(true)
    expect(visit.faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a translation that was asked for before the models are known is one',
  async () => {
    await using instance = await withModels('whisper-base')
    await using visit = await enter(instance, instance.adminKey, (page) =>
      page.route('**/v1/models', () => {
        // No answer comes.
      }),
    )
    const { page } = visit
    await translation(page).check()
    const buffer = Buffer.from(await hum(4).bytes())
    await page.getByLabel('Audio or video file').setInputFiles({ name: 'clip.wav', mimeType: 'audio/wav', buffer })
    const asked = page.waitForRequest((request) => request.method() === 'POST' && /\/v1\/audio\//.test(request.url()))
    await page.getByRole('button', { name: 'Transcribe', exact: true }).click()
    expect((await asked).url()).toEndWith('/v1/audio/translations')
  },
  flowMs,
)
