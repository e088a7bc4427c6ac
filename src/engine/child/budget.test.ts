import { beforeEach, expect, test } from 'bun:test'
import { ManualClock } from '../../testing/manual-clock.ts'
import { Budget, type Holding, NoRoom } from './budget.ts'

const waitMs = 20_000
let clock: ManualClock
let budget: Budget
let leaving: TestHolding[]
beforeEach(() => {
  clock = new ManualClock()
  budget = new Budget({ bytes: 100e6, waitMs, timers: clock })
  leaving = []
})

class TestHolding implements Holding {
  readonly bytes: number
  idleSinceMs = 0
  #idle = false

  constructor(
    readonly name: string,
    megabytes: number,
  ) {
    this.bytes = megabytes * 1e6
  }

  isIdle = () => this.#idle

  fallIdle(): this {
    clock.advance(1)
    this.idleSinceMs = clock.monotonicMs()
    this.#idle = true
    budget.noteIdle()
    return this
  }

  unload(): void {
    leaving.push(this)
  }
}
const settle = () => new Promise<void>((resolve) => setImmediate(resolve))
/** The state of a claim so far. */
function claim(holding: Holding): { outcome: string; error: unknown } {
  const claimed = { outcome: 'waits', error: null as unknown }
  budget.claim(holding).then(
    () => (claimed.outcome = 'granted'),
    (error: unknown) => Object.assign(claimed, { outcome: 'refused', error }),
  )
  return claimed
}
async function held(name: string, megabytes: number): Promise<TestHolding> {
  const holding = new TestHolding(name, megabytes)
  await budget.claim(holding)
  return holding
}
const namesOf = (holdings: readonly TestHolding[]) => holdings.map(({ name }) => name)

test('a claim that fits is granted, and an idle one stays while it fits', async () => {
  ;(await held('a', 60)).fallIdle()
  await held('b', 40)
  expect(leaving).toEqual([])
})

test('the ones unused for longest are unloaded first, no more than needed, and then there is room', async () => {
  const [a, b, c] = [await held('a', 30), await held('b', 30), await held('c', 30)]
  for (const holding of [c, a, b]) holding.fallIdle()
  const waiting = claim(new TestHolding('d', 50))
  await settle()
  expect([waiting.outcome, namesOf(leaving)]).toEqual(['waits', ['c', 'a']])
  budget.free(c)
  await settle()
  expect(waiting.outcome).toBe('waits')
  budget.free(a)
  await settle()
  expect(waiting.outcome).toBe('granted')
  expect(namesOf(leaving)).toEqual(['c', 'a'])
})

test('nothing is unloaded when that would not be enough: the claim waits for one in use', async () => {
  const busy = await held('busy', 70)
  const idle = (await held('idle', 20)).fallIdle()
  const waiting = claim(new TestHolding('large', 60))
  await settle()
  expect([waiting.outcome, leaving]).toEqual(['waits', []])
  busy.fallIdle()
  expect(namesOf(leaving)).toEqual(['idle', 'busy'])
  budget.free(idle)
  budget.free(busy)
  await settle()
  expect(waiting.outcome).toBe('granted')
})

test('a claim that waited in vain is refused with the figures, and the next in line has its turn', async () => {
  await held('busy', 70)
  const large = claim(new TestHolding('large', 60))
  clock.advance(waitMs - 1)
  const small = claim(new TestHolding('small', 10))
  await settle()
  expect([large.outcome, small.outcome]).toEqual(['waits', 'waits'])
  clock.advance(1)
  await settle()
  expect([large.outcome, small.outcome]).toEqual(['refused', 'granted'])
  expect(large.error).toBeInstanceOf(NoRoom)
  expect(String(large.error)).toBe(
    'Error: it needs 60 MB, and for 20000 ms models in use take 70 MB of the 100 MB that models may take ' +
      '(MYNA_MODEL_MEMORY)',
  )
  expect(clock.waiting).toBe(0)
})

test('a claim that could never fit is refused at once, with both figures', async () => {
  const claimed = claim(new TestHolding('huge', 101))
  await settle()
  expect(claimed.error).not.toBeInstanceOf(NoRoom)
  expect(String(claimed.error)).toBe(
    'Error: it needs 101 MB, and all models together may take 100 MB (MYNA_MODEL_MEMORY)',
  )
})

test('freeing an empty claim is harmless; closing refuses the waiting ones', async () => {
  budget.free(new TestHolding('stranger', 50))
  await held('busy', 100)
  const waiting = claim(new TestHolding('late', 1))
  budget.close()
  await settle()
  expect([waiting.outcome, String(waiting.error)]).toEqual(['refused', 'Error: the engine is stopping'])
})
