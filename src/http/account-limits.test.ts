/** An account's own limits, through the real server: they apply from the next request, and only to that account. */
import { expect, test } from 'bun:test'
import { startInstance } from '../testing/instance.ts'
import { until } from '../testing/until.ts'

const codeOf = async (answer: Response): Promise<string> =>
  ((await answer.json()) as { error: { code: string } }).error.code

test('the limits of an account apply from its next request, and only to it', async () => {
  await using instance = await startInstance({ speechConcurrency: 2, speechPerMinute: 100 })
  const { administration } = instance.server
  const [ada, ben] = [await instance.key({ account: 'ada' }), await instance.key({ account: 'ben' })]
  const limitsOf = async (key: string) =>
    ((await (await instance.fetch('/v1/me', { key })).json()) as { limits: Record<string, number> }).limits
  await administration.setLimits({ name: 'ada', limits: { speechConcurrency: 1, speechPerMinute: 2 } })
  expect(await limitsOf(ada)).toMatchObject({ speech_concurrency: 1, speech_requests_per_minute: 2 })
  expect(await limitsOf(ben)).toMatchObject({ speech_concurrency: 2, speech_requests_per_minute: 100 })

  const gate = Promise.withResolvers<void>()
  instance.engine.plan = () => ({ before: () => gate.promise })
  const answers = [instance.speak(ada), instance.speak(ben), instance.speak(ben)]
  await until('three are pending', async () => (await instance.server.status()).pendingOperations === 3)
  expect(await codeOf(await instance.speak(ada))).toBe('concurrency_limit_exceeded')
  const third = await instance.speak(ada)
  expect(third.headers.get('x-ratelimit-limit-requests')).toBe('2')
  expect(await codeOf(third)).toBe('rate_limit_exceeded')

  await administration.setLimits({ name: 'ada', limits: { speechConcurrency: 3, speechPerMinute: null } })
  answers.push(instance.speak(ada), instance.speak(ada))
  await until('five are pending', async () => (await instance.server.status()).pendingOperations === 5)
  expect(await codeOf(await instance.speak(ada))).toBe('concurrency_limit_exceeded')
  gate.resolve()
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
})
