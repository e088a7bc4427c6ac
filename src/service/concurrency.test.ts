import { expect, test } from 'bun:test'
import { ManualClock } from '../testing/manual-clock.ts'
import { PerAccount } from './concurrency.ts'

const codeOf = (error: unknown) => (error as { code?: string }).code ?? String(error)
const never = new AbortController().signal

function start() {
  const clock = new ManualClock()
  return { clock, places: new PerAccount(1, 'turns'), patience: { timer: clock, maxMs: 1000, signal: never } }
}

test('waiting requests are served in turn', async () => {
  const { places, patience } = start()
  const leave = places.enter('ada')
  const order: number[] = []
  const waiting = [1, 2].map((n) =>
    places.enterInTurn('ada', patience).then((leaveToo) => {
      order.push(n)
      return leaveToo
    }),
  )
  const other = await places.enterInTurn('bob', patience)
  leave()
  const leaveFirst = await waiting[0]!
  expect(order).toEqual([1])
  leaveFirst()
  ;(await waiting[1]!)()
  other()
  expect(order).toEqual([1, 2])
  places.enter('ada')()
})

test('a wait has a deadline, and a cancelled wait passes its turn to the next', async () => {
  const { clock, places, patience } = start()
  const leave = places.enter('ada')
  const refused = places.enterInTurn('ada', patience).catch(codeOf)
  clock.advance(1000)
  expect(await refused).toBe('concurrency_limit_exceeded')
  const abort = new AbortController()
  const first = places.enterInTurn('ada', { ...patience, signal: abort.signal }).catch(codeOf)
  const second = places.enterInTurn('ada', patience)
  leave()
  abort.abort('gone')
  expect(await first).toBe('gone')
  ;(await second)()
})

test('an account may have a limit of its own', async () => {
  const { places, patience } = start()
  const leave = places.enter('ada', 2)
  places.enter('ada', 2)
  expect(() => places.enter('ada', 2)).toThrow('limit of turns at once: 2')
  const waiting = places.enterInTurn('ada', patience, 2)
  leave()
  ;(await waiting)()
  expect(() => places.enter('ada')).toThrow('limit of turns at once: 1')
})
