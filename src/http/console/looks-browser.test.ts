/** Looks: colours that can be read (WCAG 2.2, 1.4.3 and 1.4.11), a theme that stays as chosen, a menu that opens. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasBrowser, launchBrowser, noBrowser } from '../../testing/browser.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { desk, flowMs, phone, startMs, unfit, visitIn } from './browser.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

const tokens = readFileSync(join(import.meta.dir, '../../web/style/tokens.css'), 'utf8')

type Palette = Map<string, string>

/** Every colour by name, in each theme. */
function palettes(): { light: Palette; dark: Palette } {
  const [light, dark] = [new Map<string, string>(), new Map<string, string>()]
  for (const [, name = '', ofLight = '', ofDark = ''] of tokens.matchAll(
    /--([\w-]+):\s*light-dark\((#\w{6}), (#\w{6})\)/g,
  )) {
    light.set(name, ofLight)
    dark.set(name, ofDark)
  }
  for (const [, name = '', colour = ''] of tokens.matchAll(/--([\w-]+):\s*(#\w{6});/g)) {
    light.set(name, colour)
    dark.set(name, colour)
  }
  return { light, dark }
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = parseInt(colour.slice(at, at + 2), 16) / 255
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (lighter + 0.05) / (darker + 0.05)
}

const grounds = ['ground', 'side', 'card', 'sunk', 'field']
const words: (readonly [text: string, ground: string])[] = [
  ...['text', 'faint'].flatMap((text) => grounds.map((ground) => [text, ground] as const)),
  ...['ground', 'card', 'accent-soft'].map((ground) => ['accent', ground] as const),
  ['text', 'accent-soft'],
  ['on-amber', 'amber'],
  ['on-amber', 'amber-bright'],
  ['good', 'good-soft'],
  ['bad', 'bad-soft'],
]
const shapes: (readonly [shape: string, ground: string])[] = ['ground', 'card', 'field'].map(
  (ground) => ['strong-line', ground] as const,
)

test.each(['light', 'dark'] as const)('%s: words have a contrast of 4.5, the edges of fields 3', (theme) => {
  const palette = palettes()[theme]
  const ratio = ([one, other]: readonly [string, string]) => {
    const [a, b] = [palette.get(one), palette.get(other)]
    if (a === undefined || b === undefined) throw new Error(`no colour ${one} or ${other}`)
    return contrast(a, b)
  }
  const weak = (pairs: typeof words, least: number) =>
    pairs.filter((pair) => ratio(pair) < least).map((pair) => `${pair.join(' on ')}: ${ratio(pair).toFixed(2)}`)
  expect([...weak(words, 4.5), ...weak(shapes, 3)]).toEqual([])
})

let instance: Instance
let browser: Awaited<ReturnType<typeof launchBrowser>>

beforeAll(async () => {
  if (!hasBrowser) return
  instance = await startInstance()
  browser = await launchBrowser()
}, startMs)

afterAll(async () => {
  await browser?.close()
  await instance?.[Symbol.asyncDispose]()
})

async function enter(options = desk) {
  const visited = await visitIn(browser, options, instance.url)
  await visited.page.getByLabel('API key').fill(instance.adminKey)
  await visited.page.keyboard.press('Enter')
  await visited.page.getByRole('navigation').waitFor()
  return visited
}

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'the theme is the chosen one, also after a reload and on the page of the API',
  async () => {
    await using visited = await enter()
    const { page, faults } = visited
    const ground = () => page.evaluate<string>('getComputedStyle(document.body).backgroundColor')
    const [light, dark] = ['rgb(250, 247, 244)', 'rgb(14, 11, 10)']
    expect(await ground()).toBe(light)
    await page.getByRole('button', { name: 'Dark', exact: true }).click()
    expect(await ground()).toBe(dark)
    expect(await unfit(page)).toEqual([])
    await page.reload()
    await page.getByRole('navigation').waitFor()
    expect(await ground()).toBe(dark)
    await page.getByRole('link', { name: 'API docs' }).click()
    await page.getByRole('heading', { name: 'One base URL, any OpenAI client' }).waitFor()
    await page.getByText(`${instance.url}/v1`, { exact: true }).first().waitFor()
    expect(await ground()).toBe(dark)
    await page.getByRole('link', { name: 'Console', exact: true }).click()
    await page.getByRole('button', { name: 'As the system' }).click()
    expect(await ground()).toBe(light)
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a phone has four pages at its edge and all others behind More, which Escape closes',
  async () => {
    await using visited = await enter(phone)
    const { page, faults } = visited
    const links = page.getByRole('navigation').getByRole('link')
    expect(await links.count()).toBe(4)
    const more = page.getByRole('button', { name: 'More' })
    await more.click()
    await page.getByRole('button', { name: 'Sign out' }).waitFor()
    expect(await links.count()).toBeGreaterThan(8)
    expect(await unfit(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Sign out' }).waitFor({ state: 'hidden' })
    await more.click()
    await page.getByRole('link', { name: 'Accounts' }).click()
    await page.getByRole('heading', { level: 1, name: 'Accounts' }).waitFor()
    expect(await links.count()).toBe(4)
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser).each([desk, { viewport: { width: 768, height: 1024 } }])(
  'the list of shortcuts opens in full at every width: %j',
  async (options) => {
    await using visited = await enter(options)
    const { page, faults } = visited
    await page.evaluate('document.activeElement.blur()')
    await page.keyboard.press('?')
    const title = page.getByRole('heading', { name: 'Keyboard shortcuts' })
    await title.waitFor()
    // One line of it.
    expect((await title.boundingBox())?.height).toBeLessThan(40)
    await page.keyboard.press('Escape')
    await title.waitFor({ state: 'detached' })
    expect(faults).toEqual([])
  },
  flowMs,
)
