/**
 * A whole server for a test: a data folder of its own, real SQLite, real HTTP on a free port, real codecs. Only the
 * engine is fake unless another is given.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, type Config } from '../config.ts'
import { cards } from '../catalog/cards.ts'
import { CardCatalog } from '../catalog/catalog.ts'
import { sound } from '../audio/clip.ts'
import { DecoderPool } from '../audio/decode/decoder.ts'
import { StreamingDecoder } from '../audio/decode/stream.ts'
import { EncoderPool } from '../audio/encode/pool.ts'
import { voicePicture } from '../audio/picture/picture.ts'
import { type Server, startServer } from '../cli/serve/server.ts'
import type { World } from '../cli/serve/wiring.ts'
import { systemTimer } from '../domain/time.ts'
import { keepingLog } from '../log.ts'
import { FakeEngine } from './fake-engine.ts'
import { FakeTranscriber } from './fake-transcriber.ts'
import { ManualClock } from './manual-clock.ts'
import { Seeded } from './seeded.ts'
import { until } from './until.ts'

export interface Instance {
  server: Server
  url: string
  dataDir: string
  engine: FakeEngine
  transcriber: FakeTranscriber
  streamDecoder: StreamingDecoder
  clock: ManualClock
  /** The log so far. */
  lines: string[]
  /** The first administrator's key. */
  adminKey: string
  /** Makes a new account with a key. */
  key(options?: { account?: string; prepaidMicros?: number; scopes?: string[] | null }): Promise<string>
  /** Sends a bearer key if one is given. */
  fetch(path: string, init?: RequestInit & { key?: string }): Promise<Response>
  /** What Prometheus would read from the local socket. */
  metrics(): Promise<string>
  speak(key: string, body?: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>
  /** Sends a clip of three seconds unless another is given. */
  clone(key: string, fields?: Record<string, string | Blob>, headers?: Record<string, string>): Promise<Response>
  /** Polls a voice of this account until it is finished. */
  voice(key: string, id: string): Promise<VoiceJson>
  /** Clones, and waits for the result. @throws Error when the clip is refused */
  cloned(key: string, fields?: Record<string, string | Blob>): Promise<VoiceJson>
  [Symbol.asyncDispose](): Promise<void>
}

/** A voice as the API returns it; each test checks the fields that it needs. */
export type VoiceJson = Record<string, unknown> & { voice_id: string; operation_id: string; status: string }

/** A test that polls on a slow machine asks more often than the 600 times a minute that a server allows. */
const limits = { requestsPerMinute: 1_000_000 }

/** The fake engine mixes, whatever the card says about the real one. */
const mixingCards = cards.map((card) => ({ ...card, mixing: true }))

export async function startInstance(settings: Partial<Config> = {}, change: Partial<World> = {}): Promise<Instance> {
  const dataDir = settings.dataDir ?? mkdtempSync(join(tmpdir(), 'myna-test-'))
  const lines: string[] = []
  const engine = new FakeEngine()
  const transcriber = new FakeTranscriber()
  const clock = new ManualClock()
  const nowMs = () => clock.nowMs()
  const codecs = startCodecs()
  const world: World = {
    clock,
    timer: systemTimer,
    random: new Seeded(7).fill,
    catalog: new CardCatalog(mixingCards, () => false),
    engine,
    speechEngines: 1,
    // The fake engine makes sound as fast as it is read.
    speeds: { of: () => ({ speed: 1e6, stepMs: 100 }), all: new Map() },
    transcriber,
    ...codecs,
    log: keepingLog((line) => lines.push(line), 'debug', nowMs),
    ...change,
  }
  const config: Config = { ...loadConfig({}, {}), port: 0, drainMs: 0, ...limits, ...settings, dataDir }
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
    transcriber,
    streamDecoder: codecs.streamDecoder,
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
    metrics: async () => (await fetch('http://localhost/metrics', { unix: join(dataDir, 'myna.sock') })).text(),
    speak: (key, body = {}, headers = {}) =>
      call('/v1/audio/speech', {
        method: 'POST',
        key,
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ input: 'hello there', voice: 'alloy', response_format: 'pcm', ...body }),
      }),
    ...voiceCalls(call),
    async [Symbol.asyncDispose]() {
      await server.stop()
      codecs.close()
      if (settings.dataDir === undefined) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** The real pools, with few threads and small pictures. */
function startCodecs() {
  const encoders = new EncoderPool({ workers: 1 })
  const decoder = new DecoderPool({ workers: 1, timer: systemTimer })
  const streamDecoder = new StreamingDecoder({ timer: systemTimer })
  const draw: World['draw'] = (pcm, sampleRateHz, style) =>
    voicePicture(pcm, sampleRateHz, { ...style, widthPx: 240, heightPx: 120 })
  const close = () => [encoders, decoder, streamDecoder].forEach((codec) => codec.close())
  return { encoders, decoder, streamDecoder, sound, draw, close }
}

function voiceCalls(call: Instance['fetch']): Pick<Instance, 'clone' | 'voice' | 'cloned'> {
  const clone: Instance['clone'] = (key, fields = {}, headers = {}) => {
    const body = new FormData()
    for (const [name, value] of Object.entries({ file: hum(3), ...fields })) body.append(name, value)
    return call('/v1/voices', { method: 'POST', key, headers, body })
  }
  const voice: Instance['voice'] = async (key, id) => {
    let record: VoiceJson | undefined
    await until(`voice ${id} is made`, async () => {
      record = (await (await call(`/v1/voices/${id}`, { key })).json()) as VoiceJson
      return record.status !== 'processing'
    })
    if (record === undefined) throw new Error('there is no record')
    return record
  }
  return {
    clone,
    voice,
    async cloned(key, fields = {}) {
      const response = await clone(key, fields)
      const answer = (await response.json()) as VoiceJson
      if (response.status !== 201) throw new Error(`the clone was refused: ${JSON.stringify(answer)}`)
      return voice(key, answer.voice_id)
    },
  }
}

/** A steady tone as a WAV file of that length, 16 kHz: the fake engine counts any sound as speech. */
export function hum(seconds: number, amplitude = 8000): File {
  const pcm = Int16Array.from({ length: seconds * 16_000 }, (_, i) => amplitude * Math.sin(i / 20))
  return new File([sound.wav(pcm, 16_000) as Uint8Array<ArrayBuffer>], 'hum.wav', { type: 'audio/wav' })
}
