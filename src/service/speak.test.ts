import { expect, test } from 'bun:test'
import { openScene } from '../testing/service-scene.ts'

const everMs = { startMs: 1, endMs: 8e15, bucketMs: 8e15 }

test('a refusal leaves no trace: no place, no slot of the account, no record', async () => {
  const scene = await openScene({ concurrency: 2, streams: 2 })
  const { process } = scene
  const poor = await scene.caller('poor', 299)
  const rich = await scene.caller('rich')
  for (let again = 0; again < 3; again++) {
    expect((await scene.begin(poor)).code).toBe('insufficient_balance')
    expect((await scene.begin(rich, { voice: 'nobody' })).code).toBe('voice_not_found')
    expect((await scene.begin(rich, { language: 'de' })).code).toBe('unsupported_value')
    expect((await scene.begin(rich, { input: '你好' })).code).toBe('unsupported_value')
    const endless = await scene.begin(rich, { input: '7'.repeat(4096) })
    expect(endless.refusal).toMatchObject({
      code: 'string_above_max_length',
      param: 'input',
      message: expect.stringContaining('more than 15 minutes to speak'),
    })
    expect((await scene.begin(rich, { input: '7'.repeat(2048), speed: 0.5 })).code).toBe('string_above_max_length')
  }
  expect([process.speech.liveCount, process.queue.running, process.queue.depth]).toEqual([0, 0, 0])
  expect(await process.ledger.pendingCount()).toBe(0)
  const begun = await scene.begin(rich)
  scene.engine().permit()
  await scene.settled()
  expect(begun.code).toBe('value')
})

test('the price is held at once, and the next request of the account sees it', async () => {
  const scene = await openScene({ streams: 2 })
  await scene.caller('ada', 599)
  await scene.begin(await scene.caller())
  const caller = await scene.caller()
  expect(caller.account.balanceMicros).toBe(299)
  const refused = await scene.begin(caller)
  expect(refused.refusal).toMatchObject({
    code: 'insufficient_balance',
    extras: { required_micros: 300, balance_micros: 299 },
  })
})

test('an admission is refused by the database if the balance has dropped since authentication', async () => {
  const scene = await openScene({ streams: 3 })
  const caller = await scene.caller('ada', 599)
  const all = [scene.begin(caller), scene.begin(caller), scene.begin(caller)]
  const codes = (await Promise.all(all)).map(({ code }) => code)
  expect(codes.sort()).toEqual(['insufficient_balance', 'insufficient_balance', 'pending'])
  expect([scene.process.queue.running, scene.process.speech.liveCount]).toEqual([1, 1])
})

test('of two submissions in the same instant, exactly one works', async () => {
  const scene = await openScene({ streams: 3 })
  const caller = await scene.caller()
  const codes = await Promise.all([1, 2, 3].map(() => scene.begin(caller, {}, { key: 'k' })))
  expect(codes.map(({ code }) => code).sort()).toEqual(['duplicate_request', 'duplicate_request', 'pending'])
  expect(await scene.process.ledger.pendingCount()).toBe(1)
  const other = await scene.begin(caller, { input: 'other words' }, { key: 'k' })
  expect(other.refusal).toMatchObject({ code: 'idempotency_conflict', extras: { state: 'pending', outcome: null } })
})

test('an account may have a limited number of requests, waiting ones included, and gets each slot back', async () => {
  const scene = await openScene({ concurrency: 2, streams: 1, waiting: 5 })
  const ada = await scene.caller()
  const first = new AbortController()
  await scene.begin(ada, {}, { gone: first.signal })
  await scene.begin(ada)
  expect((await scene.begin(ada)).refusal).toMatchObject({ code: 'concurrency_limit_exceeded', retryAfterMs: 1000 })
  expect((await scene.begin(await scene.caller('bob'))).code).toBe('pending')
  first.abort()
  await scene.settled()
  expect((await scene.begin(ada)).code).toBe('pending')
  expect((await scene.begin(ada)).code).toBe('concurrency_limit_exceeded')
})

test('a client that disconnects before admission costs nothing and frees its key', async () => {
  const scene = await openScene()
  const caller = await scene.caller('ada', 1000)
  const begun = await scene.begin(caller, {}, { key: 'k', gone: AbortSignal.abort() })
  const id = begun.refusal?.operationId ?? ''
  expect(await scene.process.ledger.find(caller.account.id, id)).toMatchObject({
    outcome: 'stream_failed',
    chargedMicros: 0,
    firstAudioAtMs: null,
  })
  expect((await scene.caller()).account.balanceMicros).toBe(1000)
  expect((await scene.begin(caller, {}, { key: 'k' })).code).toBe('pending')
  expect(await scene.process.ledger.usage({ accountId: null, ...everMs, groupBy: [] })).toEqual([])
})

test('a draining server admits nothing new, lets work continue and settles the rest at no cost', async () => {
  const scene = await openScene()
  const { speech, ledger } = scene.process
  const caller = await scene.caller('ada', 1000)
  const running = await scene.begin(caller)
  const waiting = await scene.begin(caller)
  speech.drain()
  expect((await scene.begin(caller)).refusal).toMatchObject({ code: 'server_shutting_down', operationId: undefined })
  scene.engine().permit()
  await scene.settled()
  expect([running.code, waiting.code, speech.liveCount]).toEqual(['value', 'server_shutting_down', 1])
  expect(waiting.refusal).toMatchObject({ retryAfterMs: 5000, operationId: undefined })
  await speech.shutDown()
  await scene.settled()
  expect([speech.liveCount, await ledger.pendingCount()]).toEqual([0, 0])
  const outcomeOf = async (id = '') => (await ledger.find(caller.account.id, id))?.outcome
  expect(await outcomeOf(running.value?.operation.id)).toBe('stream_failed')
  expect((await scene.caller()).account.balanceMicros).toBe(1000)
})

test('waiting for the drain ends when the last stream is settled', async () => {
  const scene = await openScene()
  const gone = new AbortController()
  await scene.begin(await scene.caller(), {}, { gone: gone.signal })
  let isDrained = false
  void scene.process.speech.drained().then(() => (isDrained = true))
  await scene.settled()
  expect(isDrained).toBe(false)
  gone.abort()
  await scene.settled()
  expect(isDrained).toBe(true)
})
