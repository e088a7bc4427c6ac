/**
 * Damaged recordings at the endpoint: an answer that reports the skipped time, or a clear refusal, whatever the damage.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { encodedFile, everyContainer } from '../../audio/decode/containers.fixture.ts'
import { buzz } from '../../audio/encode/readback.fixture.ts'
import type { Instance } from '../../testing/instance.ts'
import { forEachSeed } from '../../testing/seeded.ts'
import { eventsOf } from '../../testing/streams.ts'
import { until } from '../../testing/until.ts'
import { errorOf, startListening, transcribe, uploadsOf } from './transcription.fixture.ts'

setDefaultTimeout(60_000)

let instance: Instance
let key: string
beforeAll(async () => {
  instance = await startListening()
  key = await instance.key()
})
afterAll(() => instance[Symbol.asyncDispose]())

const flac = await encodedFile('flac', buzz(3, 24_000))
const broken = flac.slice()
broken.fill(0, broken.length / 2, broken.length / 2 + 40)
const file = new File([broken], 'broken.flac')

test('the skipped time is in the answer and in the log', async () => {
  const whole = await transcribe(instance, key, { file: new File([flac], 'whole.flac') })
  expect(await whole.json()).not.toHaveProperty('skipped_seconds')
  // One frame of 4096 samples.
  const skipped_seconds = 0.171
  for (const response_format of ['json', 'verbose_json']) {
    const answer = await transcribe(instance, key, { file, response_format })
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { text: 'heard 0. heard 1. heard 2.', skipped_seconds },
    ])
    expect(answer.headers.get('x-skipped-seconds')).toBe(String(skipped_seconds))
    const line = instance.lines.findLast((one) => one.includes('a recording is damaged'))
    expect(line).toContain(`request=${answer.headers.get('x-request-id')} container=flac codec=flac skipped_ms=`)
  }
  const events = eventsOf(await (await transcribe(instance, key, { file, stream: 'true' })).text())
  expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', skipped_seconds })
  expect(instance.lines.filter((one) => one.includes('a recording is damaged'))).toHaveLength(3)
})

test('subtitles stay in step', async () => {
  const answer = await transcribe(instance, key, { file, response_format: 'srt' })
  expect(answer.headers.get('x-skipped-seconds')).toBe('0.171')
  const cues = await answer.text()
  expect(cues).toContain('00:00:02,000 --> 00:00:03,000\nheard 2.')
})

test('a mostly damaged recording is refused', async () => {
  const frames = flac.slice()
  for (let at = 300; at < frames.length; at += 40) frames[at]! ^= 0x55
  const refused = await transcribe(instance, key, { file: new File([frames], 'gone.flac') })
  expect([refused.status, await errorOf(refused)]).toMatchObject([
    400,
    { code: 'invalid_audio', param: 'file', message: expect.stringContaining('damaged') },
  ])
})

const files = [...(await everyContainer(buzz(1, 24_000)))].filter(([name]) => !/^wav (?!pcm-s16)/.test(name))

test.each(files)(
  '%s, damaged at random, is answered or refused, and leaves nothing behind',
  async (name, { bytes }) => {
    await forEachSeed(1, async (random) => {
      const harmed = bytes.slice(0, random.chance(0.3) ? random.whole(1, bytes.length) : bytes.length)
      for (let harms = random.whole(0, 4); harms > 0; harms--) {
        harmed.fill(random.whole(0, 255), random.whole(0, harmed.length), random.whole(0, harmed.length))
        harmed[random.whole(0, harmed.length - 1)]! ^= 1 << random.whole(0, 7)
      }
      const answer = await transcribe(instance, key, { file: new File([harmed], 'harmed.bin') })
      if (answer.status === 200) return expect(await answer.json()).toHaveProperty('text')
      const refusal = expect.stringMatching(/^(invalid_audio|audio_too_short|audio_too_long)$/)
      expect([name, answer.status, await errorOf(answer)]).toMatchObject([name, 400, { code: refusal }])
    })
    await until('all has ended', () => instance.streamDecoder.files === 0 && uploadsOf(instance).length === 0)
  },
  60_000,
)
