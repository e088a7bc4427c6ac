/**
 * The console's recorder: every sample is kept, even in the thread that no page sees, and every problem with the
 * microphone is explained helpfully.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { sound } from '../../audio/clip.ts'
import { hasBrowser, launchWithDevices, noBrowser, untrustedHost } from '../../testing/browser.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Instance, startInstance } from '../../testing/instance.ts'
import { until } from '../../testing/until.ts'
import { desk, flowMs, go, startMs, type Visit, visitIn } from './browser.fixture.ts'

if (!hasBrowser) console.log(noBrowser)

const sampleRateHz = 48_000
const toneHz = 500
let instance: Instance
/** Its microphone plays a steady tone. */
let hearing: Browser
let deaf: Browser

beforeAll(async () => {
  if (!hasBrowser) return
  instance = await startInstance()
  const tone = Int16Array.from({ length: 40 * sampleRateHz }, (_, i) => {
    return Math.round(16_000 * Math.sin((2 * Math.PI * toneHz * i) / sampleRateHz))
  })
  const wav = join(temporaryFolder(), 'tone.wav')
  await Bun.write(wav, sound.wav(tone, sampleRateHz))
  hearing = await launchWithDevices(wav)
  deaf = await launchWithDevices(null)
}, startMs)

afterAll(async () => {
  await hearing?.close()
  await deaf?.close()
  await instance?.[Symbol.asyncDispose]()
})

/** Opens the microphone of the cloning dialog. @param before runs in the page ahead of its own scripts */
async function atMicrophone(browser: Browser, options = {}, url = instance.url, before = ''): Promise<Visit> {
  const visited = await visitIn(browser, { ...desk, ...options }, url)
  const { page } = visited
  if (before !== '') {
    await page.addInitScript(before)
    await page.reload()
  }
  await page.getByLabel('API key').fill(instance.adminKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await go(page, 'Voices')
  await page.getByRole('button', { name: 'Clone a voice' }).click()
  await page.getByRole('button', { name: 'Microphone' }).click()
  return visited
}

const startRecording = (page: Page) => page.getByRole('button', { name: 'Record' }).click()

/** Keeps the file that the page unpacks to draw it: the recording. */
const keepFiles = `{
  const read = Blob.prototype.arrayBuffer
  Blob.prototype.arrayBuffer = function () {
    globalThis.kept = this
    return read.call(this)
  }
}`

/** Keeps what the audio thread sends, beside the recorder: it gets the same blocks, whatever the device dropped. */
const keepBlocks = `{
  globalThis.blocks = []
  globalThis.AudioWorkletNode = class extends AudioWorkletNode {
    constructor(...parts) {
      super(...parts)
      this.port.addEventListener('message', ({ data }) => blocks.push(data.samples.slice()))
    }
  }
}`

/** All of those, as 32-bit floats. */
async function sentBlocks(page: Page): Promise<Float32Array> {
  const text = await page.evaluate<string>('new Blob(blocks).bytes().then((bytes) => bytes.toBase64())')
  return new Float32Array(Uint8Array.fromBase64(text).buffer)
}

/** The last file that the page made: 16 bit, mono. */
async function recorded(page: Page): Promise<{ sampleRateHz: number; samples: Int16Array }> {
  await page.getByLabel('The clip', { exact: true }).waitFor()
  const text = await page.evaluate<string>('kept.bytes().then((bytes) => bytes.toBase64())')
  const wav = Uint8Array.fromBase64(text)
  const rate = new DataView(wav.buffer).getUint32(24, true)
  return { sampleRateHz: rate, samples: new Int16Array(wav.buffer.slice(44)) }
}

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'the audio thread passes on every sample, in order, even those after the last full block',
  async () => {
    await using visited = await atMicrophone(hearing)
    const count = 100_096
    const taken = await visited.page.evaluate<{ wrong: number[]; count: number; peak: number; lasts: number }>(
      `(async () => {
        const context = new OfflineAudioContext(1, ${count}, 48000)
        await context.audioWorklet.addModule(document.getElementById('app').dataset.recorder)
        const node = new AudioWorkletNode(context, 'recorder', { channelCount: 1, channelCountMode: 'explicit' })
        const buffer = new AudioBuffer({ length: ${count}, sampleRate: 48000 })
        buffer.copyToChannel(Float32Array.from({ length: ${count} }, (_, at) => at / 131072), 0)
        const source = new AudioBufferSourceNode(context, { buffer })
        source.connect(node).connect(context.destination)
        source.start()
        const blocks = []
        const last = new Promise((resolve) => {
          node.port.onmessage = ({ data }) => (blocks.push(data), data.isLast && resolve())
        })
        await context.startRendering()
        node.port.postMessage('end')
        await last
        const all = blocks.flatMap(({ samples }) => [...samples])
        const wrong = all.flatMap((sample, at) => (sample === at / 131072 ? [] : [at])).slice(0, 5)
        const peak = Math.max(...blocks.map(({ peak }) => peak))
        return { wrong, count: all.length, peak, lasts: blocks.filter(({ isLast }) => isLast).length }
      })()`,
    )
    expect(taken).toEqual({ wrong: [], count, peak: (count - 1) / 131_072, lasts: 1 })
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a tone is recorded until it ends by itself, to the sample; its level is shown in decibels',
  async () => {
    await using visited = await atMicrophone(hearing, {}, instance.url, keepFiles + keepBlocks)
    const { page, faults } = visited
    await startRecording(page)
    const level = page.getByRole('meter', { name: 'Level' })
    // 16,000 of 32,768 is 6.2 dB below full scale.
    await until('the tone is visible', async () => (await level.getAttribute('aria-valuetext')) === '-6 dB')
    await page.getByRole('status').getByText('0:30.0 recorded.').waitFor({ timeout: 60_000 })
    const clip = await recorded(page)
    expect(clip.samples.length).toBe(30 * clip.sampleRateHz)
    // On a busy machine the browser itself drops some ms of a fake device, before the recorder gets them.
    const sent = Array.from(await sentBlocks(page), (sample) => Math.round(sample * 32_767))
    expect(clip.samples.findIndex((sample, at) => sample !== sent[at])).toBe(-1)
    expect(clip.samples.reduce((most, sample) => Math.max(most, sample))).toBeCloseTo(16_000, -2)
    expect(faults).toEqual([])
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'a microphone that is unplugged in the middle leaves the recorded part',
  async () => {
    const keepStream = `{
      const ask = navigator.mediaDevices.getUserMedia
      navigator.mediaDevices.getUserMedia = async (what) =>
        (globalThis.given = await ask.call(navigator.mediaDevices, what))
    }`
    await using visited = await atMicrophone(hearing, {}, instance.url, keepFiles + keepStream)
    const { page } = visited
    await startRecording(page)
    await page.getByRole('timer').getByText('0:01').waitFor()
    // No script can pull a plug, so the track ends the way it does when a microphone is unplugged.
    await page.evaluate("given.getAudioTracks()[0].dispatchEvent(new Event('ended'))")
    await page.getByRole('alert').getByText('was disconnected').waitFor()
    const clip = await recorded(page)
    expect(clip.samples.length).toBeGreaterThan(clip.sampleRateHz)
    await page.getByRole('button', { name: 'Record' }).click()
    await page.getByRole('timer').getByText('0:01').waitFor()
    expect(await page.getByRole('alert').count()).toBe(0)
  },
  flowMs,
)

// Skipped without a browser, which a fresh machine lacks.
test.skipIf(!hasBrowser)(
  'without a microphone, without permission and without TLS the page explains what helps',
  async () => {
    const said = async (visited: Visit): Promise<string> => {
      await startRecording(visited.page)
      return visited.page.getByRole('alert').innerText()
    }
    await using none = await atMicrophone(deaf)
    expect(await said(none)).toContain('No microphone was found.')
    await using denied = await atMicrophone(hearing, { permissions: ['clipboard-write'] })
    expect(await said(denied)).toContain('The microphone is not allowed.')
    const url = instance.url.replace(/\/\/[^:/]+/, `//${untrustedHost}`)
    await using plain = await atMicrophone(hearing, { permissions: [] }, url)
    expect(await said(plain)).toContain(`this page came from ${new URL(url).origin}`)
    expect(plain.faults).toEqual([])
  },
  flowMs,
)
