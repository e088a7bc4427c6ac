/**
 * Takes the README's picture of the console: the program from source, one spoken sentence, and a page as a browser
 * shows it. Needs Debian's Chromium. `bun scripts/picture.ts`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { hasBrowser, launchBrowser, noBrowser } from '../src/testing/browser.ts'
import { startProgram } from '../src/testing/program.ts'

const target = join(import.meta.dir, '..', '.github', 'console.webp')

if (!hasBrowser) throw new Error(noBrowser)
const folder = mkdtempSync(join(tmpdir(), 'myna-picture-'))
const program = await startProgram(folder)
const browser = await launchBrowser()
try {
  const page = await browser.newPage({ viewport: { width: 1180, height: 824 }, deviceScaleFactor: 2 })
  await page.goto(`${program.url}/console`)
  await page.getByLabel('API key').fill(program.key)
  await page.getByRole('button', { name: 'Sign in' }).click()
  for (let turn = 0; turn < 2; turn++) {
    await page.getByRole('button', { name: 'Speak', exact: true }).click()
    await page.getByText('completed', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Speak', exact: true }).waitFor()
  }
  await Bun.write(
    target,
    await sharp(await page.screenshot())
      .webp({ quality: 82 })
      .toBuffer(),
  )
} finally {
  await browser.close()
  await program.end()
  rmSync(folder, { recursive: true, force: true })
}
