import { expect, test } from 'bun:test'
import type { Caller } from '../domain/account.ts'
import { openScene, type Scene } from '../testing/service-scene.ts'
import { Watched } from '../testing/simulation/client.ts'
import type { Speaking } from './speaking.ts'

const frameBytes = 480

/** A stream whose first frame was made. */
async function stream(scene: Scene, caller: Caller): Promise<Speaking> {
  const begun = await scene.begin(caller)
  scene.engine().permit()
  await scene.settled()
  if (begun.value === undefined) throw new Error(`not begun: ${begun.code}`)
  return begun.value
}

async function next(scene: Scene, speaking: Speaking): Promise<Watched<Uint8Array | null>> {
  const reading = new Watched(speaking.next())
  await scene.settled()
  return reading
}

const record = async (scene: Scene, caller: Caller, speaking: Speaking) =>
  scene.process.ledger.find(caller.account.id, speaking.operation.id)

test('a reader that gets null has every byte, and the database already records it', async () => {
  const scene = await openScene()
  const caller = await scene.caller('ada', 1000)
  const speaking = await stream(scene, caller)
  for (let frame = 1; frame < 4; frame++) scene.engine().permit()
  for (let chunk = 0; chunk < 4; chunk++) {
    expect((await next(scene, speaking)).value).toHaveLength(frameBytes)
    expect((await record(scene, caller, speaking))?.outcome).toBeNull()
  }
  expect(await speaking.next()).toBeNull()
  const completed = { outcome: 'completed', chargedMicros: 300, completionBytes: 4 * frameBytes }
  expect(await record(scene, caller, speaking)).toMatchObject(completed)
  expect(speaking.usage).toEqual({ characters: 20, audioSeconds: 0.04 })
  expect(scene.clock.waiting).toBe(0)
})

// Asking for a chunk means that the one before was taken: each frame covers 5 of the 20 characters.
test.each([
  [0, 0],
  [1, 0],
  [2, 75],
  [3, 150],
  [4, 225],
  [5, 300],
])('a client that disconnects after asking %p times pays %p micros', async (asked, chargedMicros) => {
  const scene = await openScene({}, { failAt: null, frames: 4 })
  const caller = await scene.caller('ada', 1000)
  const speaking = await stream(scene, caller)
  for (let frame = 1; frame < 4; frame++) scene.engine().permit()
  for (let chunk = 0; chunk < asked; chunk++) await next(scene, speaking)
  speaking.clientGone()
  await speaking.settled
  const outcome = asked === 5 ? 'completed' : 'stream_failed'
  expect(await record(scene, caller, speaking)).toMatchObject({ outcome, chargedMicros })
  expect((await scene.caller()).account.balanceMicros).toBe(1000 - chargedMicros)
})

test('an unread stream ends after its deadline; a reader who waits for the engine has no deadline', async () => {
  const scene = await openScene()
  const caller = await scene.caller()
  const speaking = await stream(scene, caller)
  scene.clock.advance(119_999)
  expect((await next(scene, speaking)).code).toBe('value')
  const reading = await next(scene, speaking)
  scene.clock.advance(600_000)
  await scene.settled()
  expect([reading.code, (await record(scene, caller, speaking))?.outcome]).toEqual(['pending', null])
  scene.engine().permit()
  await scene.settled()
  expect(reading.code).toBe('value')
  scene.clock.advance(120_000)
  await scene.settled()
  const ended = { outcome: 'stream_failed', chargedMicros: 75, error: { code: 'client_disconnected' } }
  expect(await record(scene, caller, speaking)).toMatchObject(ended)
})

test('the first ending decides, and later events do not change it', async () => {
  const scene = await openScene()
  const caller = await scene.caller()
  const speaking = await stream(scene, caller)
  const reading = await next(scene, speaking)
  speaking.cancel()
  speaking.clientGone()
  speaking.shutDown()
  await scene.settled()
  expect(reading.code).toBe('value')
  expect((await next(scene, speaking)).refusal).toMatchObject({
    code: 'operation_cancelled',
    operationId: speaking.operation.id,
  })
  expect(await record(scene, caller, speaking)).toMatchObject({ outcome: 'cancelled', chargedMicros: 0, error: null })
})

test('a write that the full disk refused is repeated once there is space; until then nothing is admitted', async () => {
  const scene = await openScene()
  const { process, clock } = scene
  const caller = await scene.caller()
  const speaking = await stream(scene, caller)
  await process.fillDisk(true)
  speaking.cancel()
  await scene.settled()
  expect([process.speech.unwrittenCount, (await record(scene, caller, speaking))?.outcome]).toEqual([1, null])
  await process.freeDisk()
  expect((await scene.begin(caller)).code).toBe('storage_full')
  clock.advance(50)
  await scene.settled()
  expect((await record(scene, caller, speaking))?.outcome).toBe('cancelled')
  expect([process.speech.unwrittenCount, process.speech.liveCount]).toEqual([0, 0])
  expect((await scene.begin(caller)).code).toBe('pending')
})

test('a reader waits ten seconds for a settlement that cannot be written, but only once', async () => {
  const scene = await openScene({}, { frames: 1 })
  const caller = await scene.caller()
  const speaking = await stream(scene, caller)
  await next(scene, speaking)
  await scene.process.fillDisk(true)
  const last = await next(scene, speaking)
  scene.clock.advance(9999)
  await scene.settled()
  expect(last.code).toBe('pending')
  scene.clock.advance(1)
  await scene.settled()
  expect(last.code).toBe('generation_failed')
  await scene.process.freeDisk()
  scene.clock.advance(5000)
  await scene.settled()
  // It had every byte: the record shows what the aborted stream could not.
  expect(await record(scene, caller, speaking)).toMatchObject({ outcome: 'completed', completionBytes: frameBytes })
})
