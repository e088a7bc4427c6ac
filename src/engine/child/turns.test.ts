import { expect, test } from 'bun:test'
import type { Claim } from '../../domain/schedule.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { Turns } from './turns.ts'

const claim = (isFirst: boolean, account = 'account'): Claim => ({ account, isFirst, dueMs: null })
const turnsOf = (slots: number) => new Turns(slots, new ManualClock())

/**
 * Streams of some chunks each, which take turns like real ones; the result is the order in which chunks were computed.
 */
async function computed(
  slots: number,
  chunks: Record<string, number>,
  newcomer?: { after: number },
): Promise<string[]> {
  const turns = turnsOf(slots)
  const order: string[] = []
  const others: Promise<void>[] = []
  const stream = async (name: string, count: number) => {
    for (let i = 0; i < count; i++) {
      await turns.take(claim(i === 0), async () => {
        order.push(`${name}${i}`)
        if (newcomer?.after === order.length) others.push(stream('new', 1))
        await Promise.resolve()
      })
    }
  }
  await Promise.all(Object.entries(chunks).map(([name, count]) => stream(name, count)))
  await Promise.all(others)
  return order
}

test('chunk by chunk, in the order of arrival', async () => {
  expect(await computed(1, { a: 3, b: 2, c: 3 })).toEqual(['a0', 'b0', 'c0', 'a1', 'b1', 'c1', 'a2', 'c2'])
})

test('a first chunk comes before all later ones', async () => {
  expect(await computed(1, { a: 3, b: 3, c: 3 }, { after: 4 })).toEqual([
    'a0',
    'b0',
    'c0',
    'a1',
    'new0',
    'b1',
    'c1',
    'a2',
    'b2',
    'c2',
  ])
})

test('runs as many at once as there are slots, and no more', async () => {
  const turns = turnsOf(3)
  let running = 0
  let most = 0
  const step = async () => {
    most = Math.max(most, ++running)
    await new Promise<void>((resolve) => setImmediate(resolve))
    running--
  }
  await Promise.all(Array.from({ length: 20 }, () => turns.take(claim(true), step)))
  expect([most, running]).toEqual([3, 0])
})

test('a failed step gives its slot back and fails only its own stream', async () => {
  const turns = turnsOf(1)
  const failing = turns.take(claim(true), async () => {
    throw new Error('out of memory')
  })
  const next = turns.take(claim(true), async () => 'spoken')
  await expect(failing).rejects.toThrow('out of memory')
  expect((await next).value).toBe('spoken')
})

test('refuses zero slots', () => {
  expect(() => turnsOf(0)).toThrow(RangeError)
})

test('a cancelled turn leaves the queue; a running one continues', async () => {
  const turns = turnsOf(1)
  const [running, waiting] = [new AbortController(), new AbortController()]
  const go = Promise.withResolvers<string>()
  const first = turns.take(claim(true), () => go.promise, running.signal)
  let ran = false
  const second = turns.take(claim(false), async () => (ran = true), waiting.signal)
  const third = turns.take(claim(false), async () => 'third')
  running.abort(new Error('too late'))
  waiting.abort(new Error('enough'))
  await expect(second).rejects.toThrow('enough')
  await expect(turns.take(claim(true), async () => 'never', waiting.signal)).rejects.toThrow('enough')
  go.resolve('first')
  expect([(await first).value, (await third).value, ran]).toEqual(['first', 'third', false])
})

test('the stream that runs dry first comes first, and the turn reports its cost', async () => {
  const clock = new ManualClock()
  const turns = new Turns(1, clock)
  const order: string[] = []
  const take = (name: string, dueMs: number) =>
    turns.take({ account: name, isFirst: false, dueMs }, async () => {
      order.push(name)
      clock.advance(40)
    })
  const all = await Promise.all([take('a', 9000), take('b', 8000), take('c', 7000)])
  expect(order).toEqual(['a', 'c', 'b'])
  expect(await Promise.all(all.map(({ machineMs }) => machineMs))).toEqual([40, 40, 40])
})

test('a turn lasts as long as the rest of its step is computed', async () => {
  const clock = new ManualClock()
  const turns = new Turns(1, clock)
  const rest = Promise.withResolvers<void>()
  const first = await turns.take(
    claim(true),
    async () => 'sound',
    undefined,
    () => rest.promise,
  )
  let hasRun = false
  const patient = turns.take({ account: 'other', isFirst: false, dueMs: 60_000 }, async () => (hasRun = true))
  // A first sound runs beside it.
  expect((await turns.take(claim(true), async () => 'another')).value).toBe('another')
  expect([first.value, hasRun]).toEqual(['sound', false])
  clock.advance(40)
  rest.resolve()
  expect([await first.machineMs, (await patient).value]).toEqual([40, true])
})

/** A slot whose stream has its first sound. @returns ends what is left of its chunk */
async function busySlot(turns: Turns): Promise<() => void> {
  const rest = Promise.withResolvers<void>()
  await turns.take(
    claim(true),
    async () => 'sound',
    undefined,
    () => rest.promise,
  )
  return rest.resolve
}

const patient = (name: string, isLast: boolean): Claim => ({ account: name, isFirst: false, dueMs: 60_000, isLast })

test('the last turn of a stream goes beside chunks that have brought sound, where others wait', async () => {
  const turns = turnsOf(1)
  const free = await busySlot(turns)
  const order: string[] = []
  const middle = turns.take(patient('middle', false), async () => order.push('middle'))
  await turns.take(patient('last', true), async () => order.push('last'))
  expect(order).toEqual(['last'])
  free()
  await middle
  expect(order).toEqual(['last', 'middle'])
})

test('a first sound goes before a last turn', async () => {
  const turns = turnsOf(1)
  const free = await busySlot(turns)
  const order: string[] = []
  const go = Promise.withResolvers<void>()
  const silent = turns.take(claim(true), () => go.promise)
  const last = turns.take(patient('last', true), async () => order.push('last'))
  const first = turns.take(claim(true), async () => order.push('first'))
  go.resolve()
  await Promise.all([silent, last, first])
  expect(order).toEqual(['first', 'last'])
  free()
})
