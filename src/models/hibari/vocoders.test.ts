import { afterEach, expect, test } from 'bun:test'
import { noJoints } from './joints.ts'
import { bins, hopSamples, type Parameters } from './parameters.ts'
import { type Block, type ChunkOrder, Vocoders } from './vocoders.ts'

const made: Vocoders[] = []
afterEach(() => made.splice(0).forEach((vocoders) => vocoders.end()))

function vocodersOf(threads: number): Vocoders {
  const vocoders = new Vocoders(threads)
  made.push(vocoders)
  return vocoders
}

const never = new AbortController().signal

/** A hiss of this many frames. */
function orderOf(frames: number, more: Partial<ChunkOrder> = {}): ChunkOrder {
  const filled = (value: number) => new Float32Array(bins * frames).fill(value)
  const parameters: Parameters = {
    frames,
    harmonicLog: filled(-30),
    harmonicTurn: filled(0),
    restLog: filled(-4),
    restPhase: Float32Array.from({ length: bins * frames }, (_, at) => at % 7),
    f0: new Float32Array(frames),
  }
  return { parameters, joints: noJoints, speed: 1, shape: null, isFirst: true, slackMs: 0, ...more }
}

const samplesOf = (blocks: readonly Block[]): number => blocks.reduce((sum, { pcm }) => sum + pcm.length, 0)

const failure = async (blocks: AsyncIterable<Block>): Promise<string> =>
  Array.fromAsync(blocks).then(
    () => 'no failure',
    (error: Error) => error.message,
  )

test('a chunk comes whole, in blocks whose share grows to 1, within full scale and faded at its ends', async () => {
  const blocks = await Array.fromAsync(vocodersOf(1).speak(orderOf(100), never))
  const shares = blocks.map(({ share }) => share)
  expect(samplesOf(blocks)).toBe(100 * hopSamples)
  expect([shares.toSorted((a, b) => a - b), shares.at(-1), blocks.length > 2]).toEqual([shares, 1, true])
  const pcm = blocks.flatMap((block) => [...block.pcm])
  expect([pcm[0], pcm.at(-1)].map((end) => Math.abs(end!))).toEqual([0, 0])
  expect(pcm.every((sample) => Math.abs(sample) <= 1) && pcm.some((sample) => sample !== 0)).toBe(true)
})

test('a stream that was not heard yet goes first, then one whose listener runs dry', async () => {
  const vocoders = vocodersOf(1)
  const done: string[] = []
  const speak = async (name: string, order: ChunkOrder) => {
    for await (const { share } of vocoders.speak(order, never)) if (share === 1) done.push(name)
  }
  // The longest: of those with time the shortest goes first, and this one may be ahead before the others arrive.
  const patient = speak('patient', orderOf(2000, { isFirst: false, slackMs: 60_000 }))
  const late = speak('late', orderOf(400, { isFirst: false, slackMs: 0 }))
  const first = speak('first', orderOf(8))
  await Promise.all([patient, late, first])
  expect(done).toEqual(['first', 'late', 'patient'])
})

test('a chunk that is no longer wanted ends with the reason, and the others are rendered', async () => {
  const vocoders = vocodersOf(1)
  const leaving = new AbortController()
  const left = failure(vocoders.speak(orderOf(4000), leaving.signal))
  const other = Array.fromAsync(vocoders.speak(orderOf(40, { isFirst: false, slackMs: 1000 }), never))
  leaving.abort(new Error('gone'))
  expect(await left).toBe('gone')
  expect(samplesOf(await other)).toBe(40 * hopSamples)
})

test('parameters that are not finite fail their chunk alone', async () => {
  const vocoders = vocodersOf(1)
  const broken = orderOf(40)
  broken.parameters.restPhase.fill(NaN)
  const bad = failure(vocoders.speak(broken, never))
  const good = Array.fromAsync(vocoders.speak(orderOf(40), never))
  expect(await bad).toContain('the vocoder failed: the vocoder gave a sound that is not finite')
  expect(samplesOf(await good)).toBe(40 * hopSamples)
})

test('a first thread is warmed without a second one, and then speaks as ever', async () => {
  const [cold, warm] = [vocodersOf(2), vocodersOf(2)]
  await warm.warm()
  expect(warm.size).toBe(1)
  const [one, other] = await Promise.all([cold, warm].map((each) => Array.fromAsync(each.speak(orderOf(40), never))))
  expect(other!.map(({ pcm }) => pcm)).toEqual(one!.map(({ pcm }) => pcm))
})

test('a second thread starts when the first is at work, and no more than are allowed', async () => {
  const vocoders = vocodersOf(2)
  expect(vocoders.size).toBe(1)
  const all = [1, 2, 3, 4].map(() => Array.fromAsync(vocoders.speak(orderOf(80), never)))
  expect((await Promise.all(all)).map(samplesOf)).toEqual([80, 80, 80, 80].map((frames) => frames * hopSamples))
  expect(vocoders.size).toBe(2)
})

test('ending them ends a chunk in the middle and refuses later ones', async () => {
  const vocoders = vocodersOf(1)
  const running = failure(vocoders.speak(orderOf(4000), never))
  vocoders.end()
  expect(await running).toContain('the voice is unloaded')
  expect(await failure(vocoders.speak(orderOf(8), never))).toContain('the voice is unloaded')
  expect(vocoders.size).toBe(0)
})
