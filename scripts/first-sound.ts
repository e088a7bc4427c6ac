/**
 * How long a newcomer reads and waits before the first sound. The executable starts in an empty folder, with an empty
 * cache, on a terminal; then a real browser follows the shortest way that terminal and pages offer, and a second
 * terminal runs the README's first command that speaks.
 *
 *   bun scripts/first-sound.ts [--executable FILE] [--readme FILE] [--read]
 *
 * Words are those of the README up to the command, of what the terminal prints up to the link or the key, and of what a
 * screen of 1440 by 900 shows up to the button that is pressed. The seconds are the machine's own; with `--read` each
 * button waits as long as the words before it take to read. Typing and clicking take none. It also runs versions from
 * before the link that signs in: there the key is copied from the terminal, and a text typed.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Locator, Page } from 'playwright-core'
import { launchBrowser } from '../src/testing/browser.ts'

const root = join(import.meta.dir, '..')
const { values } = parseArgs({
  options: {
    executable: { type: 'string', default: join(root, 'build', 'out', 'myna') },
    read: { type: 'boolean', default: false },
    readme: { type: 'string', default: join(root, 'README.md') },
  },
})
const waitMs = 60_000
const wordsPerMinute = 240
const sentence = 'Hello. This is your own voice service.'

const wordsIn = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

/** Up to a line and with it. */
function readmeWords(line: RegExp): number {
  const text = readFileSync(values.readme, 'utf8').replace(/!\[.*?\]\(.*?\)/g, '')
  const found = line.exec(text)
  if (found === null) throw new Error(`${values.readme} has no ${line}`)
  return wordsIn(text.slice(0, found.index + found[0].length))
}

/** What can be seen without scrolling, up to the element with the focus. Runs in the page. */
const seenBefore = `(() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const [before, seen] = [[], []]
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    if (!node.parentElement.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const { top, bottom, left, right, width, height } = range.getBoundingClientRect()
    const isSeen = width > 1 && height > 1 && bottom > 0 && right > 0 && top < innerHeight && left < innerWidth
    if (!isSeen) continue
    seen.push(node.data)
    const place = node.compareDocumentPosition(document.activeElement)
    if ((place & Node.DOCUMENT_POSITION_PRECEDING) === 0) before.push(node.data)
  }
  return [before.join(' '), seen.join(' ')]
})()`

/** Reports when any player or audio clock begins. Runs before the page's own script. */
const listen = `
let heard
window.heardAtMs = new Promise((done) => (heard = () => done(performance.timeOrigin + performance.now())))
const { play } = HTMLMediaElement.prototype
HTMLMediaElement.prototype.play = function () {
  this.addEventListener('playing', heard, { once: true })
  return play.call(this)
}
const { start } = AudioBufferSourceNode.prototype
AudioBufferSourceNode.prototype.start = function (...times) {
  heard()
  return start.apply(this, times)
}`

let words = 0
function count(what: string, text: string | number, note = ''): void {
  const found = typeof text === 'number' ? text : wordsIn(text)
  words += found
  console.log(`${String(found).padStart(6)} words  ${what}${note}`)
}

/** @param button that is pressed next */
async function read(page: Page, what: string, button: Locator): Promise<void> {
  await button.waitFor()
  await button.focus()
  const [before = '', seen = ''] = await page.evaluate<string[]>(seenBefore)
  count(what, before, ` (${wordsIn(seen)} on the whole screen)`)
  if (values.read) await page.waitForTimeout((60_000 * wordsIn(before)) / wordsPerMinute)
}

/** The page is signed in and plays a voice at one click. */
async function followLink(page: Page, link: string): Promise<string> {
  await page.goto(link)
  const first = page.getByRole('button', { name: /^Hear / }).first()
  await read(page, 'first page', first)
  await first.click()
  return 'open the link, click'
}

async function typeKey(page: Page, url: string, key: string): Promise<string> {
  await page.goto(url)
  const enter = page.getByRole('button', { name: 'Sign in' })
  await read(page, 'door', enter)
  await page.getByLabel('API key').fill(key)
  await enter.click()
  await page.getByLabel('Text', { exact: true }).fill(sentence)
  const speak = page.getByRole('button', { name: 'Speak', exact: true })
  await read(page, 'first page', speak)
  await speak.click()
  return 'open the address, paste the key, click, type a sentence, click'
}

const home = mkdtempSync(join(tmpdir(), 'myna-first-'))
const env = { PATH: process.env.PATH, HOME: home, TERM: 'xterm-256color', LANG: 'C.UTF-8' }
let shown = ''
const show = (_terminal: unknown, bytes: Uint8Array) => void (shown += new TextDecoder().decode(bytes))
const printed = (): string => Bun.stripANSI(shown)
const secondsSince = (ms: number, end = Date.now()): string => `${((end - ms) / 1000).toFixed(2)} s`

/** In a second terminal. */
async function byCommand(url: string, key: string): Promise<string> {
  const knowsSpeak = /^myna speak "Hello/m.test(readFileSync(values.readme, 'utf8'))
  const curl = ['curl', '-s', `${url}/v1/audio/speech`, '-o', 'hello.mp3', '-H', `Authorization: Bearer ${key}`]
  const command = knowsSpeak
    ? [values.executable, 'speak', sentence]
    : [...curl, '-d', JSON.stringify({ input: sentence })]
  count('README, for the terminal', readmeWords(knowsSpeak ? /^myna speak "Hello.*$/m : /^ {2}-d '\{"input".*$/m))
  const beganMs = Date.now()
  const child = Bun.spawn(command, { cwd: home, env, stdout: 'ignore', stderr: 'inherit' })
  if ((await child.exited) !== 0) throw new Error(`${command[0]} failed`)
  return `${knowsSpeak ? 'myna speak' : 'export the key, curl'}: ${secondsSince(beganMs)}`
}

const browser = await launchBrowser()
const beganMs = Date.now()
const server = Bun.spawn([values.executable, 'serve', '--port', '0'], {
  cwd: home,
  env,
  terminal: { cols: 120, rows: 40, data: show },
})
try {
  // The last line of the banner is a curl command, in every version.
  for (const deadline = beganMs + waitMs; !/hello\.mp3/.test(printed()) && Date.now() < deadline;) await Bun.sleep(5)
  const banner = secondsSince(beganMs)
  const [key = ''] = /sk-myna-\w+/.exec(printed()) ?? []
  const [link] = /http:\S+\/console\S*#\S+/.exec(printed()) ?? []
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(printed()) ?? []
  count('README, to the start', readmeWords(/^.*(run start|myna serve).*$/m))
  count('terminal', printed().slice(0, printed().indexOf(link ?? key)))
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  await page.addInitScript(listen)
  const way = link === undefined ? await typeKey(page, url, key) : await followLink(page, link)
  const clickedMs = Date.now()
  const heardMs = await page.evaluate<number>('heardAtMs')
  console.log(
    `${String(words).padStart(6)} words in all, ${Math.round((60 * words) / wordsPerMinute)} s to read; ${way}`,
  )
  const [last, all] = [secondsSince(clickedMs, heardMs), secondsSince(beganMs, heardMs)]
  console.log(`${banner} to the banner, ${last} from the click, ${all} in all`)
  console.log(await byCommand(url, key))
} finally {
  await browser.close()
  server.kill('SIGTERM')
  await server.exited
  rmSync(home, { recursive: true, force: true })
}
