import { expect, test } from 'bun:test'
import { aheadSamples, Intake } from './intake.ts'
import { clipBlockSamples } from '../protocol.ts'

const never = new AbortController().signal
const block = (length: number, value = 0) => new Int16Array(length).fill(value)

function open() {
  const wanted: number[] = []
  const intake = new Intake((samples) => wanted.push(samples))
  return { intake, wanted, sum: () => wanted.reduce((sum, samples) => sum + samples, 0) }
}

test('a clip comes out as floats, whole and in order', async () => {
  const { intake } = open()
  intake.push(Int16Array.of(16_384, -32_768), false)
  intake.push(Int16Array.of(0, 8192), false)
  intake.push(block(0), true)
  const blocks = await Array.fromAsync(intake.blocks(never))
  expect(blocks.flatMap((floats) => [...floats])).toEqual([0.5, -1, 0, 0.25])
})

test('asks for nothing before the first read, and then never for more than may be stored here', async () => {
  const { intake, wanted, sum } = open()
  expect(wanted).toEqual([])
  const blocks = intake.blocks(never)
  let first = blocks.next()
  expect(sum()).toBe(aheadSamples)
  let given = 0
  let used = 0
  while (used < 20 * clipBlockSamples) {
    for (; given < sum(); given += 1000) intake.push(block(1000), false)
    used += (await first).value?.length ?? 0
    first = blocks.next()
    expect(sum() - used).toBeLessThanOrEqual(aheadSamples)
    expect(sum() - used).toBeGreaterThan(aheadSamples - clipBlockSamples)
  }
  expect(Math.min(...wanted)).toBeGreaterThanOrEqual(clipBlockSamples)
})

test('asks for nothing after the last block', async () => {
  const { intake, wanted } = open()
  const reading = Array.fromAsync(intake.blocks(never))
  intake.push(block(2 * clipBlockSamples), true)
  expect((await reading).length).toBe(1)
  expect(wanted).toEqual([aheadSamples])
})

test('an abort ends the reading, even while no block arrives', async () => {
  for (const isBefore of [true, false]) {
    const { intake } = open()
    const abort = new AbortController()
    if (isBefore) abort.abort(new Error('enough'))
    const reading = Array.fromAsync(intake.blocks(abort.signal))
    if (!isBefore) abort.abort(new Error('enough'))
    else intake.push(block(1), false)
    await expect(reading).rejects.toThrow('enough')
  }
})

test('an abort while a block is being worked on ends it, although no block follows', async () => {
  const abort = new AbortController()
  const intake = new Intake(() => {})
  intake.push(new Int16Array(10), false)
  const read = async () => {
    for await (const _ of intake.blocks(abort.signal)) abort.abort(new Error('enough'))
  }
  await expect(read()).rejects.toThrow('enough')
})
