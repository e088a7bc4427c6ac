/** The database under random lives (`simulation.ts`). More seeds: `bun scripts/simulate.ts --seeds 5000`. */
import { expect, test } from 'bun:test'
import { isLong } from '../long.ts'
import { simulate } from './simulation.ts'

/** Alone it takes less than ten seconds, but the machine may be busy. */
const deadlineMs = 240_000

const all = Array.from({ length: 100 }, (_, at) => at + 1)
/**
 * The long form runs all. Of these, the last are lives in which something rare happens; a change of the workload may
 * need others: `bun scripts/simulate.ts SEED --verbose` prints what happens in one.
 */
const seeds = isLong ? all : [...all.slice(0, 30), 36, 38, 45, 72, 96]
const stepsOf = (seed: number): number => 60 + (seed % 10) * 10

/** Must have happened in some run; otherwise the runs prove less than they claim. */
const wanted = [
  ...[
    ['admitted', 'duplicate_request', 'idempotency_conflict', 'insufficient_balance', 'engine_overloaded'],
    ['concurrency_limit_exceeded', 'storage_full', 'server_shutting_down', 'voice_not_found'],
    ['invalid_api_key', 'expired_api_key', 'account_disabled'],
  ].flatMap((verdicts) => verdicts.map((verdict) => `asked: ${verdict}`)),
  ...[
    ['completed charged', 'cancelled', 'cancelled charged'],
    ['stream_failed client_disconnected', 'stream_failed client_disconnected charged'],
    ['stream_failed generation_failed', 'stream_failed engine_unavailable', 'stream_failed server_shutting_down'],
    ['failed generation_failed', 'failed engine_unavailable', 'failed storage_full', 'failed server_shutting_down'],
    ['failed server_stopped', 'stream_failed server_stopped'],
  ].flatMap((endings) => endings.map((ending) => `ended: ${ending}`)),
  'inspect: answered',
  'inspect: operation_not_found',
  'inspect: insufficient_scope',
  'cancel: answered',
  ...[
    ['admitted', 'duplicate_request', 'insufficient_balance', 'voice_limit_reached', 'engine_overloaded'],
    ['clip_silent', 'clip_too_short', 'clip_undecodable', 'storage_full', 'server_shutting_down'],
  ].flatMap((verdicts) => verdicts.map((verdict) => `asked to clone: ${verdict}`)),
  ...[
    ['completed', 'completed priced', 'cancelled cancelled priced', 'cancelled voice_deleted priced'],
    ['failed clip_refused priced', 'failed engine_failed priced', 'failed server_stopped priced'],
    ['not_accepted not_started priced', 'not_accepted server_stopped priced'],
  ].flatMap((endings) => endings.map((ending) => `cloned: ${ending}`)),
  'cancel writing',
  'delete: processing',
  'delete: ready',
  'delete: failed',
  'delete: voice_not_found',
  'cancel clone: answered',
  ...[['admitted', 'engine_overloaded', 'storage_full', 'server_shutting_down']].flatMap((verdicts) =>
    verdicts.map((verdict) => `asked to listen: ${verdict}`),
  ),
  ...[
    ['completed', 'stream_failed client_disconnected', 'failed generation_failed', 'stream_failed generation_failed'],
    ['failed engine_unavailable', 'stream_failed engine_unavailable', 'failed server_stopped'],
    ['stream_failed server_stopped', 'failed server_shutting_down', 'stream_failed server_shutting_down'],
  ].flatMap((endings) => endings.map((ending) => `listened: ${ending}`)),
  'spoke with a cloned voice',
  'asked: voice_not_ready',
  'asked: voice_unusable',
  'a failed voice was swept',
  'stranger: too_many_failed_attempts',
  'crash',
  'died between two writes',
  'disk full',
  'stop',
  'sweep',
]

test(
  `${seeds.length} random lives of the service keep every rule of the database`,
  async () => {
    const seen = new Set<string>()
    for (const seed of seeds) {
      const run = await simulate(seed, stepsOf(seed))
      for (const what of run.seen.keys()) seen.add(what)
    }
    expect(wanted.filter((what) => !seen.has(what))).toEqual([])
  },
  deadlineMs,
)

test('a seed gives the same life again', async () => {
  for (const seed of [11, 12, 13]) {
    const first = await simulate(seed, 100)
    const again = await simulate(seed, 100)
    expect(again.trace).toEqual(first.trace)
  }
})
