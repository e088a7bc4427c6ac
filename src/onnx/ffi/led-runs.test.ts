import { expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { longGraph, square } from '../../testing/long-graph.ts'
import { onnxModel } from '../../testing/tiny-onnx.ts'
import type { Session } from '../session.ts'
import { createFfiSession } from './session.ts'

// Real runs, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const size = 400
const bytes = onnxModel(longGraph({ nodes: 100, size }))

/** Processor time of each thread of this process but the one that runs this, in ns. */
function threadTimes(): Map<string, number> {
  const tasks = '/proc/self/task'
  const others = readdirSync(tasks).filter((id) => id !== String(process.pid))
  return new Map(others.map((id) => [id, Number(readFileSync(`${tasks}/${id}/schedstat`, 'utf8').split(' ')[0])]))
}

/** Of the processor time that other threads take, the share of the second busiest. */
async function shareOfSecond(work: () => Promise<unknown>): Promise<number> {
  const before = threadTimes()
  await work()
  const taken = [...threadTimes()].map(([id, ns]) => ns - (before.get(id) ?? 0)).toSorted((a, b) => b - a)
  return taken[1]! / taken.reduce((sum, ns) => sum + ns, 0)
}

// Linux reports the processor time of each thread.
test.skipIf(process.platform !== 'linux')(
  'every run that is alone is computed by all threads of its session',
  async () => {
    for (let round = 0; round < 3; round++) {
      const session = await createFfiSession(bytes, { threads: 2 })
      for (let run = 0; run < 4; run++) {
        const share = await shareOfSecond(() => session.run({ x: square(size, 1) }))
        // A half on an idle machine. Without help it is 0.01.
        expect([round, run, share, share > 0.05]).toEqual([round, run, share, true])
      }
      await session.release()
    }
  },
)

test('more runs at once than threads all end, and threads are used again', async () => {
  const sessions = await Promise.all([1, 2, 3].map(() => createFfiSession(bytes, { threads: 2 })))
  const first = async (session: Session, value: number) => (await session.run({ x: square(size, value) })).y!.data[0]
  for (let round = 0; round < 2; round++) {
    const found = sessions.flatMap((session, at) => [1, 2, 3].map((run) => first(session, 10 * at + run)))
    const values = (await Promise.all(found)).map((value) => Math.round(Number(value)))
    expect(values).toEqual([1, 2, 3, 11, 12, 13, 21, 22, 23])
  }
  await Promise.all(sessions.map((session) => session.release()))
})

// Linux reports the processor time of each thread.
test.skipIf(process.platform !== 'linux')(
  'two runs of a session on one thread are computed at the same time, each by a thread of ours',
  async () => {
    const session = await createFfiSession(bytes, { threads: 1 })
    const both = () => Promise.all([1, 2].map((value) => session.run({ x: square(size, value) })))
    expect((await both()).map(({ y }) => Math.round(Number(y!.data[0])))).toEqual([1, 2])
    // Half on an idle machine. One after the other, it is 0.01.
    expect(await shareOfSecond(both)).toBeGreaterThan(0.2)
    await session.release()
  },
)
