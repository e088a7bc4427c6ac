/**
 * A whole server for a test: a data folder of its own, real SQLite, real HTTP on a free port, real codecs; only the
 * engine is fake unless another is given.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, type Config } from '../config.ts'
import { cards } from '../catalog/cards.ts'
import { CardCatalog } from '../catalog/catalog.ts'
import { EncoderPool } from '../audio/encode.ts'
import { type Server, startServer } from '../cli/server.ts'
import type { World } from '../cli/service.ts'
import { systemTimer } from '../domain/time.ts'
import { logTo } from '../log.ts'
import { FakeEngine } from './fake-engine.ts'
import { ManualClock } from './manual-clock.ts'
import { Seeded } from './seeded.ts'

export interface Instance {
  server: Server
  url: string
  dataDir: string
  engine: FakeEngine
  clock: ManualClock
  /** What was logged so far. */
  lines: string[]
  /** The first administrator's key. */
  adminKey: string
  /** A new account with a key. */
  key(options?: { account?: string; prepaidMicros?: number; scopes?: string[] | null }): Promise<string>
  /** With a bearer key, when one is given. */
  fetch(path: string, init?: RequestInit & { key?: string }): Promise<Response>
  speak(key: string, body?: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>
  [Symbol.asyncDispose](): Promise<void>
}

export async function startInstance(settings: Partial<Config> = {}, change: Partial<World> = {}): Promise<Instance> {
  const dataDir = settings.dataDir ?? mkdtempSync(join(tmpdir(), 'myna-test-'))
  const lines: string[] = []
  const engine = new FakeEngine()
  const clock = new ManualClock()
  const encoders = new EncoderPool({ workers: 1 })
  const world: World = {
    clock,
    timer: systemTimer,
    random: new Seeded(7).fill,
    catalog: new CardCatalog(cards, () => false),
    engine,
    encoders,
    log: logTo(
      (line) => lines.push(line),
      'debug',
      () => clock.nowMs(),
    ),
    ...change,
  }
  const config: Config = { ...loadConfig({}, {}), port: 0, drainMs: 0, ...settings, dataDir }
  const server = await startServer(config, world)
  const call: Instance['fetch'] = (path, { key, ...init } = {}) => {
    const headers = new Headers(init.headers)
    if (key !== undefined) headers.set('authorization', `Bearer ${key}`)
    return fetch(new URL(path, server.url), { ...init, headers })
  }
  let accounts = 0
  return {
    server,
    url: server.url,
    dataDir,
    engine,
    clock,
    lines,
    adminKey: server.firstKey?.secret ?? '',
    async key({ account = `account ${++accounts}`, prepaidMicros, scopes = null } = {}) {
      const { administration } = server
      const known = (await administration.listAccounts()).some(({ name }) => name === account)
      if (!known)
        await administration.createAccount({ name: account, role: 'user', balanceMicros: prepaidMicros ?? null })
      return (await administration.createKey({ account, name: 'test', scopes, expires: null })).secret
    },
    fetch: call,
    speak: (key, body = {}, headers = {}) =>
      call('/v1/audio/speech', {
        method: 'POST',
        key,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ input: 'hello there', voice: 'alloy', response_format: 'pcm', ...body }),
      }),
    async [Symbol.asyncDispose]() {
      await server.stop()
      encoders.close()
      if (settings.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}
