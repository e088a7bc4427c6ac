/**
 * How long new requests wait while a server is replaced, and whether streams end completely. Clients ask again and
 * again, on connections of their own and on a kept one, while streams are running. Compares `serve --replace` with an
 * end by SIGTERM and a start afterwards; beside each is the longest wait in the seconds before, which is the machine's
 * own. `bun scripts/bench/restart.ts [--streams 4] [--clients 1] [--source]`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Program, startProgram } from '../../src/testing/program.ts'

const { values } = parseArgs({
  options: {
    streams: { type: 'string', default: '4' },
    clients: { type: 'string', default: '1' },
    source: { type: 'boolean', default: false },
  },
})
const root = join(import.meta.dir, '..', '..')
const program = values.source ? [process.execPath, join(root, 'src', 'main.ts')] : [join(root, 'build', 'out', 'myna')]
const env = { MYNA_LOG: 'quiet', MYNA_REQUESTS_PER_MINUTE: '1000000', MYNA_PUBLIC_PER_MINUTE: '1000000' }
/** A replacement takes less, even on a busy machine. */
const windowMs = 5000
const sentence = 'The quick brown fox jumps over the lazy dog, and then it does so once more. '

interface Watch {
  asked: number
  failed: number
  /** The longest time from a request's beginning, or from the first of several failures, to the next good answer. */
  longestGapMs: number
  stop(): Promise<void>
}

/** Requests the models without a pause. @param isKept on one connection that is kept */
function watch(url: string, key: string, isKept: boolean): Watch {
  let isOver = false
  const seen: Watch = { asked: 0, failed: 0, longestGapMs: 0, stop: () => ((isOver = true), running) }
  const headers = { authorization: `Bearer ${key}`, ...(isKept ? {} : { connection: 'close' }) }
  const run = async () => {
    let sinceMs = performance.now()
    while (!isOver) {
      seen.asked++
      const isGood = await fetch(`${url}/v1/models`, { headers, keepalive: isKept }).then(
        async (answer) => (await answer.text(), answer.status === 200),
        () => false,
      )
      if (!isGood) seen.failed++
      else {
        seen.longestGapMs = Math.max(seen.longestGapMs, performance.now() - sinceMs)
        sinceMs = performance.now()
      }
      await Bun.sleep(2)
    }
  }
  const running = run()
  return seen
}

async function stream({ url }: Program, key: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${key}` }
  const body = JSON.stringify({ input: sentence.repeat(30), response_format: 'pcm' })
  const answer = await fetch(`${url}/v1/audio/speech`, { method: 'POST', headers, body })
  return answer.arrayBuffer().then(
    (audio) => audio.byteLength > 0,
    () => false,
  )
}

async function measure(how: 'replace' | 'stop and start'): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'myna-restart-'))
  const first = await startProgram(dataDir, env, [], program)
  const { port } = new URL(first.url)
  const watches = [...Array(Number(values.clients)).fill(false), true].map((isKept) =>
    watch(first.url, first.key, isKept),
  )
  const streams = Array.from({ length: Number(values.streams) }, () => stream(first, first.key))
  // Once the streams have begun: the same time without a replacement as a replacement takes.
  await Bun.sleep(1500)
  for (const each of watches) each.longestGapMs = 0
  await Bun.sleep(windowMs)
  const usualMs = Math.max(...watches.map((each) => each.longestGapMs))
  for (const each of watches) each.longestGapMs = 0
  if (how === 'stop and start') {
    first.kill('SIGTERM')
    await first.exited
  }
  const flags = ['--port', port, ...(how === 'replace' ? ['--replace'] : [])]
  const beganMs = performance.now()
  const second = await startProgram(dataDir, env, flags, program)
  await Bun.sleep(windowMs - (performance.now() - beganMs))
  const during = watches.map(({ longestGapMs }) => longestGapMs)
  const whole = (await Promise.all(streams)).filter(Boolean).length
  for (const each of watches) await each.stop()
  const sum = (of: (one: Watch) => number) => watches.reduce((total, one) => total + of(one), 0)
  const [kept, ...fresh] = during.toReversed()
  const waits = `by new connections ${Math.max(...fresh).toFixed(0)} ms, by a kept one ${kept?.toFixed(0)} ms`
  console.log(`${how}: longest wait ${waits}; ${sum(({ failed }) => failed)} of ${sum(({ asked }) => asked)} failed`)
  const seconds = windowMs / 1000
  console.log(`  (in the ${seconds} s before: ${usualMs.toFixed(0)} ms); streams whole: ${whole} of ${streams.length}`)
  second.kill('SIGTERM')
  await Promise.all([second.exited, first.exited])
  rmSync(dataDir, { recursive: true, force: true })
}

for (let turn = 0; turn < 3; turn++) await measure('replace')
await measure('stop and start')
process.exit(0)
