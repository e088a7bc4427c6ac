/** The page of voices in a real browser, against the compiled executable with its real voices. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { hasBrowser, noBrowser } from '../../testing/browser.ts'
import { until } from '../../testing/until.ts'
import { flowMs, go, type Scene, startMs, startScene, unfit } from './browser.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

const longText = 'A sentence that is long enough to become a voice, spoken at an even pace. Here is one more of them.'

/** A script that drops a recording on the page. */
const droppingOf = (wav: Buffer): string => `(() => {
  const bytes = Uint8Array.fromBase64(${JSON.stringify(wav.toString('base64'))})
  const data = new DataTransfer()
  data.items.add(new File([bytes], 'ada.wav', { type: 'audio/wav' }))
  const event = (name) => new DragEvent(name, { dataTransfer: data, bubbles: true, cancelable: true })
  document.body.dispatchEvent(event('dragenter'))
  document.body.dispatchEvent(event('drop'))
})()`

let scene: Scene
const signedIn: Scene['signedIn'] = (...where) => scene.signedIn(...where)

beforeAll(async () => {
  if (hasBrowser) scene = await startScene({ hasMicrophone: true })
}, startMs)
afterAll(() => scene?.end())

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a voice is recorded, cloned, played, changed and deleted',
  async () => {
    await using visited = await signedIn()
    const { page, faults } = visited
    await go(page, 'Voices')
    await page.getByRole('article', { name: 'Lark' }).waitFor()
    await page.getByRole('button', { name: 'Play Lark' }).click()
    await page.getByRole('button', { name: 'Stop Lark' }).click()
    await page.getByRole('button', { name: 'Clone a voice' }).click()
    await page.getByRole('button', { name: 'Microphone' }).click()
    await page.getByText('Read this aloud').waitFor()
    await page.getByRole('button', { name: 'Record' }).click()
    await page
      .getByRole('timer')
      .getByText(/0:0[4-9]/)
      .waitFor({ timeout: 20_000 })
    await page.getByRole('button', { name: 'Stop', exact: false }).click()
    await page.getByLabel('The clip', { exact: true }).waitFor()
    await page.getByLabel('Name', { exact: true }).fill('Recorded')
    await page.getByLabel(/I am this person/).check()
    await page.getByRole('button', { name: 'Create voice' }).click()
    await page.getByRole('heading', { name: 'Recorded is ready' }).waitFor({ timeout: 30_000 })
    await page.getByRole('button', { name: 'Done' }).click()
    const card = page.getByRole('article', { name: 'Recorded' })
    await card.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Renamed')
    await page.getByRole('dialog').getByLabel('Labels').fill('mood = gentle')
    await page.getByRole('button', { name: 'Save' }).click()
    const renamed = page.getByRole('article', { name: 'Renamed' })
    await renamed.getByText('gentle').waitFor()
    await page.getByLabel('Search voices').fill('gentle')
    await page.getByRole('article', { name: 'Lark' }).waitFor({ state: 'detached' })
    await renamed.getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('button', { name: 'Delete voice' }).click()
    await page.getByText('No voice matches').waitFor()
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'voices are filtered, compared on a sentence, made the default and used; the line moves over the picture',
  async () => {
    await using visited = await signedIn()
    const { page, faults } = visited
    await go(page, 'Voices')
    await page.getByLabel('Gender').selectOption('male')
    await page.getByRole('article', { name: 'Lark' }).waitFor({ state: 'detached' })
    const robin = page.getByRole('article', { name: 'Robin' })
    await robin.getByRole('button', { name: 'Play Robin' }).click()
    const line = () => page.evaluate<string>("document.querySelector('.playing .playhead')?.style.transform ?? ''")
    await until('the line is over the picture', async () => /translateX/.test(await line()))
    const before = await line()
    await until('it moves', async () => ![before, ''].includes(await line()))
    await page.getByLabel('Gender').selectOption('')
    await robin.getByRole('button', { name: 'Compare' }).click()
    await page.getByRole('button', { name: 'Compare Lark' }).click()
    await page.getByLabel('Sentence').fill('Which of us do you like?')
    await page.getByRole('button', { name: 'Speak with both' }).click()
    for (const name of ['Robin', 'Lark']) await page.getByLabel(`The sentence by ${name}`).waitFor()
    expect(await unfit(page)).toEqual([])
    await page.getByRole('button', { name: 'Set Robin as default' }).click()
    await robin.getByText('your default').waitFor()
    await page.getByRole('button', { name: 'Use Lark' }).click()
    await page.getByRole('heading', { level: 1, name: 'Speak' }).waitFor()
    await page.getByText(/Lark/).first().waitFor({ state: 'attached' })
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a recording that is dropped on the page is trimmed, cloned and used',
  async () => {
    await using visited = await signedIn()
    const { page, faults } = visited
    await go(page, 'Voices')
    await page.getByRole('article', { name: 'Lark' }).waitFor()
    const spoken = await scene.program.speak(scene.program.key, { input: longText, response_format: 'wav' })
    const wav = Buffer.from(await spoken.bytes())
    await page.evaluate(droppingOf(wav))
    await page.getByRole('slider', { name: 'Begin' }).fill('1')
    await page.getByText(/0:01\.0 to/).waitFor()
    expect(await unfit(page)).toEqual([])
    await page.getByLabel('Name', { exact: true }).fill('Dropped')
    await page.getByLabel(/I am this person/).check()
    await page.getByRole('button', { name: 'Create voice' }).click()
    await page.getByRole('heading', { name: 'Dropped is ready' }).waitFor()
    const own = await scene.program.fetch('/v1/voices?search=Dropped', scene.program.key)
    const { data } = (await own.json()) as { data: { samples: { duration_secs: number }[] }[] }
    expect(data[0]?.samples[0]?.duration_secs).toBeCloseTo((wav.length - 44) / 48_000 - 1, 1)
    await page.getByRole('button', { name: 'Speak with it' }).click()
    await page.getByRole('heading', { level: 1, name: 'Speak' }).waitFor()
    await page
      .getByText(/Dropped/)
      .first()
      .waitFor({ state: 'attached' })
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a recording that is dropped on the page that transcribes is the one that is transcribed',
  async () => {
    await using visited = await signedIn()
    const { page, faults } = visited
    await go(page, 'Transcribe')
    await page.getByLabel('Audio or video file').waitFor()
    const spoken = await scene.program.speak(scene.program.key, { input: longText, response_format: 'wav' })
    await page.evaluate(droppingOf(Buffer.from(await spoken.bytes())))
    await page.getByText('ada.wav').waitFor()
    expect(await page.getByLabel('Audio or video file').inputValue()).toEndWith('ada.wav')
    await page.getByRole('button', { name: 'Transcribe', exact: true }).click()
    await page
      .getByText(/even pace/)
      .first()
      .waitFor()
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a file that is not a recording shows the reason, without a dead player or an empty transcript',
  async () => {
    await using visited = await signedIn()
    const { page } = visited
    await go(page, 'Transcribe')
    const notes = { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no sound at all '.repeat(50)) }
    await page.getByLabel('Audio or video file').setInputFiles(notes)
    await page.getByText('This browser cannot play it').waitFor()
    expect(await page.locator('audio').count()).toBe(0)
    await page.getByRole('button', { name: 'Transcribe', exact: true }).click()
    await page.getByRole('alert').getByText('This is text, not audio.').waitFor()
    expect(await page.getByRole('region', { name: 'Transcript' }).count()).toBe(0)
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a clip that cannot be a voice is refused with an explanation',
  async () => {
    await using visited = await signedIn()
    const { page } = visited
    await go(page, 'Voices')
    await page.getByRole('button', { name: 'Clone a voice' }).click()
    await page.getByLabel('Audio or video file').setInputFiles({
      name: 'notes.txt',
      mimeType: 'text/plain',
      buffer: Buffer.from('no sound at all '.repeat(50)),
    })
    await page.getByLabel('Name', { exact: true }).fill('Nobody')
    await page.getByLabel(/I am this person/).check()
    await page.getByRole('button', { name: 'Create voice' }).click()
    expect(await page.getByRole('alert').innerText()).not.toBe('')
  },
  flowMs,
)
