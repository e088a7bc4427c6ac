/**
 * Takes screenshots of every page of the console, in both themes and at both widths: a real server from source, with
 * real speech, a cloned voice, accounts and usage in it. New pages are included automatically. Needs Debian's Chromium.
 * `bun scripts/screenshots.ts FOLDER [PAGE ...]`
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import sharp from 'sharp'
import { hasBrowser, launchBrowser, noBrowser } from '../src/testing/browser.ts'
import { type Program, startProgram } from '../src/testing/program.ts'

const [target, ...wanted] = process.argv.slice(2)
if (target === undefined) throw new Error('usage: bun scripts/screenshots.ts FOLDER [PAGE ...]')
if (!hasBrowser) throw new Error(noBrowser)

const themes = ['light', 'dark'] as const
const screens = [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]
const isWanted = (name: string) => wanted.length === 0 || wanted.includes(name)

const sentences = [
  'The myna learns the sounds that it hears, and says them again in its own time.',
  'Good morning. The kettle is on, and the train leaves at ten past nine.',
  'In the beginning there was a list of words, and somebody read them aloud.',
]

/** A household after a few days: speech, its own voice, a second account. */
async function furnish(program: Program): Promise<void> {
  for (const input of sentences) await (await program.speak(program.key, { input })).bytes()
  const clip = await program.speak(program.key, { input: sentences.join(' '), response_format: 'wav' })
  const form = new FormData()
  form.set('file', new File([await clip.bytes()], 'ada.wav'))
  form.set('name', 'Ada')
  form.set('description', 'Calm, close to the microphone')
  form.set('consent', 'yes')
  await program.fetch('/v1/voices', program.key, { method: 'POST', body: form })
  const headers = { origin: program.url, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' }
  const post = (path: string, body: unknown) =>
    program.fetch(`/console/api/admin/${path}`, program.key, { method: 'POST', headers, body: JSON.stringify(body) })
  await post('accounts', { name: 'ada', balance_micros: 5_000_000 })
  await post('keys', { account: 'ada', name: 'laptop', scopes: ['tts'] })
}

async function signIn(page: Page, program: Program): Promise<void> {
  await page.getByLabel('API key').fill(program.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('navigation').waitFor()
}

/** Gives the studio a history, and its player something to play. */
async function speakTwice(page: Page): Promise<void> {
  for (const sentence of sentences.slice(1)) {
    await page.getByLabel('Text').fill(sentence)
    await page.getByRole('button', { name: 'Speak', exact: true }).click()
    await page.getByText('completed', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Speak', exact: true }).waitFor()
  }
}

/** Once the whole page has loaded, including the pictures further down. */
async function settle(page: Page): Promise<void> {
  await page.waitForFunction("document.querySelector('.loading') === null")
  await page.evaluate("for (const picture of document.images) picture.loading = 'eager'")
  await page.waitForFunction('[...document.images].every(({ complete }) => complete)')
}

async function photograph(browser: Browser, program: Program): Promise<void> {
  for (const colorScheme of themes) {
    for (const viewport of screens) {
      const page = await browser.newPage({ viewport, colorScheme, bypassCSP: true })
      const shoot = async (name: string, fullPage = true) => {
        await settle(page)
        const path = join(target ?? '', `${name}-${colorScheme}-${viewport.width}.png`)
        await page.screenshot({ path, fullPage, animations: 'disabled' })
      }
      await page.goto(`${program.url}/console`)
      await page.getByLabel('API key').waitFor()
      if (isWanted('sign-in')) await shoot('sign-in')
      await signIn(page, program)
      for (const link of await page.getByRole('navigation').locator('a').all()) {
        const id = ((await link.getAttribute('href')) ?? '').replace('#/', '')
        if (!isWanted(id)) continue
        await page.goto(`${program.url}/console#/${id}`)
        await page.locator('h1').waitFor()
        if (id === 'speak') await speakTwice(page)
        await shoot(id)
      }
      if (isWanted('docs')) {
        await page.goto(`${program.url}/docs`)
        await page.locator('.opblock').first().waitFor()
        await shoot('docs', false)
      }
      await page.close()
    }
  }
}

/** The studio in the dark, in the middle of a sentence. */
async function picture(browser: Browser, program: Program): Promise<void> {
  const size = { viewport: { width: 1280, height: 860 }, deviceScaleFactor: 2, colorScheme: 'dark' } as const
  const page = await browser.newPage(size)
  await page.goto(`${program.url}/console`)
  await signIn(page, program)
  await page.getByRole('button', { name: /^Voice: / }).click()
  await page.getByRole('dialog').getByRole('button', { name: /^Lark/ }).click()
  await speakTwice(page)
  await page.getByRole('button', { name: /^Play: Good morning/ }).click()
  await page.getByRole('textbox', { name: 'Text' }).fill(`${sentences[1]} ${sentences[0]}`)
  // A second and a half into it.
  await page.waitForTimeout(1500)
  const webp = await sharp(await page.screenshot())
    .webp({ quality: 82 })
    .toBuffer()
  await Bun.write(join(target ?? '', 'console.webp'), webp)
  await page.close()
}

mkdirSync(target, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'myna-screenshots-'))
const program = await startProgram(folder)
const browser = await launchBrowser()
try {
  await furnish(program)
  if (wanted.includes('picture')) await picture(browser, program)
  else await photograph(browser, program)
} finally {
  await browser.close()
  await program.end()
  rmSync(folder, { recursive: true, force: true })
}
