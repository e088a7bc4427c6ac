/** Random and mutated requests: methods, paths, queries, headers and bodies that no client would send. */
import type { Seeded } from '../../src/testing/seeded.ts'
import { sizeOf, startTarget, type Target } from './target.ts'

const methods = ['GET', 'POST', 'PATCH', 'DELETE', 'PUT', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND'] as const
const paths = [
  '/v1/audio/speech',
  '/v1/audio/transcriptions',
  '/v1/audio/translations',
  '/v1/audio/voices',
  '/v1/audio/models',
  '/v1/voices',
  '/v1/voices/x',
  '/v1/voices/x/preview',
  '/v1/models',
  '/v1/models/hibari',
  '/v1/me',
  '/v1/usage',
  '/v1/operations/op_1',
  '/v1/operations/op_1/cancel',
  '/health',
  '/readyz',
  '/metrics',
  '/openapi.json',
  '/docs',
  '/',
  '/console',
  '/console/api/session',
  '/console/api/accounts',
  '/nowhere',
] as const
/** What clients do ask for: these reach the code behind the routes. */
const asked = [
  'POST /v1/audio/speech',
  'POST /dev/captioned_speech',
  'POST /v1/audio/transcriptions',
  'GET /v1/voices',
  'POST /v1/voices',
  'GET /v1/voices/x',
  'PATCH /v1/voices/x',
  'GET /v1/audio/voices',
  'GET /v1/audio/voice_consents',
  'POST /v1/audio/voice_consents',
  'GET /v1/operations',
  'GET /v1/usage',
  'POST /v1/realtime/client_secrets',
  'POST /console/api/session',
  'POST /console/api/admin/accounts',
] as const
const values = [
  null,
  true,
  -1,
  0,
  1e308,
  '',
  ' ',
  'alloy',
  'x'.repeat(5000),
  '\u0000',
  '\ud800',
  '../../etc/passwd',
  '%00',
  [],
  {},
  [[]],
  { __proto__: { a: 1 } },
  { id: {} },
  'constructor',
  "' OR 1=1 --",
  '<script>',
  '𝒳'.repeat(300),
] as const
const names = [
  'input',
  'model',
  'voice',
  'response_format',
  'speed',
  'stream_format',
  'sample_rate',
  'seed',
  'name',
  'labels',
]
/** What an answer must never contain. */
const leaks = /node_modules|\/src\/[a-z]|at [a-zA-Z.]+ \(|SQLITE|bun:sqlite|\/tmp\/myna-attack/

interface Tally {
  statuses: Map<number, number>
  leaks: number
  broken: number
}

/** @param endMs monotonic time of the last request */
export async function requests(count: number, random: Seeded, endMs: number): Promise<string> {
  const target = await startTarget()
  const before = sizeOf(target.program)
  const tally: Tally = { statuses: new Map(), leaks: 0, broken: 0 }
  try {
    const clients = 16
    const one = async () => {
      for (let turn = 0; turn < count / clients && performance.now() < endMs; turn++) await ask(target, tally, random)
    }
    await Promise.all(Array.from({ length: clients }, one))
    const after = sizeOf(target.program)
    const failures = [...tally.statuses].filter(([status]) => status >= 500 && status !== 503)
    const sum = failures.reduce((total, [, times]) => total + times, 0)
    const sent = [...tally.statuses.values()].reduce((total, times) => total + times, 0)
    const sizes = `RSS ${before.rssMb} -> ${after.rssMb} MB, descriptors ${before.descriptors} -> ${after.descriptors}`
    const each = [...tally.statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${times} x ${status}`)
    const found = `${sum} 5xx, ${tally.leaks} leaks, ${tally.broken} without an answer`
    return `${sent} requests (${each.join(', ')}): ${found}; ${sizes}`
  } finally {
    await target.end()
  }
}

async function ask({ program, key }: Target, tally: Tally, random: Seeded): Promise<void> {
  const real = random.chance(0.5) ? random.pick(asked).split(' ') : []
  const [method = random.pick(methods), realPath] = real
  const query = random.chance(0.3) ? `?${random.pick(names)}=${encodeURIComponent(text(random))}` : ''
  const path =
    realPath ??
    (random.chance(0.3)
      ? `${random.pick(paths)}/${encodeURIComponent(text(random)).slice(0, 300)}`
      : random.pick(paths))
  const headers = new Headers()
  if (random.chance(0.7)) headers.set('authorization', random.chance(0.9) ? `Bearer ${key}` : 'Basic !')
  const type = random.pick(['application/json', 'multipart/form-data; boundary=b', 'text/plain', ''] as const)
  if (type !== '') headers.set('content-type', type)
  if (random.chance(0.2)) headers.set('idempotency-key', random.pick(['k', 'x'.repeat(200), ' '] as const))
  const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS' && method !== 'TRACE'
  try {
    const init = { method, headers, signal: AbortSignal.timeout(60_000), ...(hasBody && { body: bodyOf(random) }) }
    const answer = await fetch(program.url + path + query, init)
    const said = await answer.text()
    tally.statuses.set(answer.status, (tally.statuses.get(answer.status) ?? 0) + 1)
    if (answer.status >= 400 && leaks.test(said)) tally.leaks++
  } catch {
    tally.broken++
  }
}

const text = (random: Seeded): string => String(JSON.stringify(random.pick(values)) ?? '').toWellFormed()

function bodyOf(random: Seeded): string {
  const fields = Array.from({ length: random.whole(0, 5) }, () => [random.pick(names), random.pick(values)] as const)
  const json = JSON.stringify({ input: 'Hi.', voice: 'alloy', response_format: 'pcm', ...Object.fromEntries(fields) })
  if (random.chance(0.7)) return json
  const at = random.whole(0, json.length)
  return (
    json.slice(0, at) +
    random.pick(['', '}', '\u0000', '--b\r\n', '[[[['] as const) +
    json.slice(at + random.whole(0, 3))
  )
}
