import { expect, test } from 'bun:test'
import { systemRandom } from '../domain/id.ts'
import { systemClock } from '../domain/time.ts'
import { corsFor } from './cors.ts'
import { json, routeWith } from './exchange.ts'
import { Metrics } from './metrics.ts'

/** What the server uses as the client's address and scheme. @param peer as Bun reports it */
async function seen(peer: string, headers: Record<string, string>, trusted: readonly string[]): Promise<unknown> {
  const route = routeWith({
    clock: systemClock,
    random: systemRandom,
    metrics: new Metrics(),
    cors: corsFor([]),
    idleConnectionS: 130,
    trustedProxies: new Set(trusted),
    publicOrigin: null,
    log: () => {},
    report: () => {},
  })
  const request = new Request('http://voice.example/v1', { headers: { host: 'voice.example', ...headers } })
  const server = { requestIP: () => ({ address: peer }), timeout: () => {} }
  const answer = await route('/v1', ({ address, origin }) => json([address, origin]))({ request, server })
  return answer.json()
}

const forwarded = { 'x-forwarded-for': '203.0.113.7', 'x-forwarded-proto': 'https' }

test('a proxy is recognised by its address even if the server listens on IPv6, too', async () => {
  const client = ['203.0.113.7', 'https://voice.example']
  expect(await seen('10.0.0.1', forwarded, ['10.0.0.1'])).toEqual(client)
  expect(await seen('::ffff:10.0.0.1', forwarded, ['10.0.0.1'])).toEqual(client)
  expect(await seen('::ffff:10.0.0.2', forwarded, ['10.0.0.1'])).toEqual(['10.0.0.2', 'http://voice.example'])
  expect(await seen('fd00::1', forwarded, ['fd00::1'])).toEqual(client)
})

test('a client has one address, whichever way it connects', async () => {
  const twice = { 'x-forwarded-for': '::ffff:203.0.113.7, ::ffff:10.0.0.1' }
  expect(await seen('10.0.0.1', twice, ['10.0.0.1'])).toEqual(['203.0.113.7', 'http://voice.example'])
})
