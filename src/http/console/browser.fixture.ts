/**
 * The console in a real browser against the compiled executable, for its tests, on request with a fake microphone that
 * plays speech. Each visit records what went wrong in the page (browser console messages, failed scripts, requests to
 * another origin).
 */
import { join } from 'node:path'
import axe from 'axe-core'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { freshExecutable } from '../../../build/compile.ts'
import { launchBrowser, launchWithDevices } from '../../testing/browser.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Program, startProgram } from '../../testing/program.ts'

export const startMs = 120_000
export const flowMs = 120_000
const waitMs = 30_000
export const desk: BrowserContextOptions = { viewport: { width: 1440, height: 900 }, colorScheme: 'light' }
export const phone: BrowserContextOptions = { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }

/** A page, and what went wrong in it. */
export interface Visit {
  page: Page
  /** Messages in the browser's console, failed scripts, requests to another origin. */
  faults: string[]
  [Symbol.asyncDispose](): Promise<void>
}

export interface Scene {
  program: Program
  browser: Browser
  visit(options?: BrowserContextOptions, url?: string): Promise<Visit>
  signedIn(options?: BrowserContextOptions, at?: { url: string; key: string }): Promise<Visit>
  end(): Promise<void>
}

interface SceneOptions {
  /** Of the executable. */
  env?: Record<string, string>
  hasMicrophone?: boolean
}

export async function startScene({ env = {}, hasMicrophone = false }: SceneOptions = {}): Promise<Scene> {
  const folder = temporaryFolder()
  const program = await startProgram(join(folder, 'data'), env, [], [await freshExecutable()])
  const browser = hasMicrophone ? await launchWithDevices(await microphoneFile(program, folder)) : await launchBrowser()
  const visit: Scene['visit'] = (options = desk, url = program.url) => visitIn(browser, options, url)
  return {
    program,
    browser,
    visit,
    async signedIn(options = desk, at = program) {
      const visited = await visit(options, at.url)
      await visited.page.getByLabel('API key').fill(at.key)
      await visited.page.getByRole('button', { name: 'Sign in' }).click()
      await visited.page.getByRole('navigation').waitFor()
      return visited
    },
    async end() {
      await browser.close()
      await program.end()
    },
  }
}

async function microphoneFile(program: Program, folder: string): Promise<string> {
  const input =
    'The microphone hears this voice, which says one sentence after the other, and so it goes on for a while.'
  const spoken = await program.speak(program.key, { input, voice: 'lark', response_format: 'wav' })
  const wav = join(folder, 'microphone.wav')
  await Bun.write(wav, await spoken.bytes())
  return wav
}

/** @param options without permissions: the microphone and writing to the clipboard */
export async function visitIn(browser: Browser, options: BrowserContextOptions, url: string): Promise<Visit> {
  const context = await browser.newContext({ permissions: ['microphone', 'clipboard-write'], ...options })
  const page = await context.newPage()
  // Below the time limit of a flow, so that a wait that ends reports what it waited for, and the browser survives.
  page.setDefaultTimeout(waitMs)
  const faults: string[] = []
  page.on('console', (message) => void (message.type() === 'error' && faults.push(message.text())))
  page.on('pageerror', (error) => void faults.push(error.message))
  page.on('request', (request) => {
    const asked = new URL(request.url())
    if (asked.protocol.startsWith('http') && asked.origin !== new URL(url).origin) faults.push(request.url())
  })
  await page.goto(url)
  return { page, faults, [Symbol.asyncDispose]: () => context.close() }
}

/** Uses the navigation; on a phone, its "More" if the page is in there. */
export async function go(page: Page, name: string): Promise<void> {
  const pages = page.getByRole('navigation')
  // It does not exist yet right after signing in.
  await pages.waitFor()
  const link = pages.getByRole('link', { name, exact: true })
  if (!(await link.isVisible())) await pages.getByRole('button', { name: 'More' }).click()
  await link.click()
}

/** The fact of this name on the page. */
export const fact = (page: Page, name: string) =>
  page.locator('dl.facts div', { has: page.getByText(name, { exact: true }) })

/** What fades in or out has less contrast than at its end. What moves endlessly, such as a bar, is not waited for. */
const settled = `Promise.allSettled(document.getAnimations()
  .filter(({ effect }) => effect.getComputedTiming().endTime !== Infinity)
  .map(({ finished }) => finished)).then(() => {})`

/** The problems that axe reports and that exclude users. */
export async function unfit(page: Page): Promise<string[]> {
  await page.evaluate(settled)
  if (!(await page.evaluate<boolean>("'axe' in window"))) await page.evaluate(axe.source)
  // Without a list of everything that is well, a page takes two thirds of the time.
  const { violations } = await page.evaluate<axe.AxeResults>("axe.run({ resultTypes: ['violations'] })")
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 120)}`))
}

/** The focused element, as a screen reader would name it. */
export const focused = (page: Page): Promise<string> =>
  page.evaluate<string>(`(({ tagName, innerText, ariaLabel, labels }) =>
    tagName + ' ' + (ariaLabel ?? labels?.[0]?.innerText ?? innerText))(document.activeElement)`)

/** On the Speak page. */
export async function chooseVoice(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: /^Voice: / }).click()
  await page
    .getByRole('dialog', { name: 'Choose a voice' })
    .getByRole('button', { name: new RegExp(`^${name}`) })
    .click()
}

/** The button that saves the player's sound, once it is complete. */
export const downloadOf = (page: Page) =>
  page.getByRole('region', { name: 'Player' }).getByRole('button', { name: /^Download/ })
