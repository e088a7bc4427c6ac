/**
 * How long new requests wait while a server is replaced, and whether streams end whole: clients that ask again and
 * again, on connections of their own and on kept ones, and streams that are under way. `serve --replace` beside an end
 * by SIGTERM with a start afterwards. `bun scripts/bench/restart.ts [--streams 4] [--source]`
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Program, startProgram } from '../../src/testing/program.ts'

const { values } = parseArgs({
  options: { streams: { type: 'string', default: '4' }, source: { type: 'boolean', default: false } },
})
const root = join(import.meta.dir, '..', '..')
const program = values.source ? [process.execPath, join(root, 'src', 'main.ts')] : [join(root, 'build', 'out', 'myna')]
const env = { MYNA_LOG: 'quiet', MYNA_REQUESTS_PER_MINUTE: '1000000', MYNA_PUBLIC_PER_MINUTE: '1000000' }
const sentence = 'The quick brown fox jumps over the lazy dog, and then it does so once more. '

interface Watch {
  asked: number
  failed: number
  /** The longest time from a request's beginning, or the first failure of a row, to the next good answer. */
  longestGapMs: number
  stop(): Promise<void>
}

/** Asks for the models without a pause. @param isKept on one connection that is kept */
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
  const watches = [watch(first.url, first.key, false), watch(first.url, first.key, true)]
  const streams = Array.from({ length: Number(values.streams) }, () => stream(first, first.key))
  await Bun.sleep(1500)
  const usualMs = Math.max(...watches.map((each) => each.longestGapMs))
  for (const each of watches) each.longestGapMs = 0
  if (how === 'stop and start') {
    first.kill('SIGTERM')
    await first.exited
  }
  const flags = ['--port', port, ...(how === 'replace' ? ['--replace'] : [])]
  const second = await startProgram(dataDir, env, flags, program)
  const whole = (await Promise.all(streams)).filter(Boolean).length
  await Bun.sleep(1000)
  for (const each of watches) await each.stop()
  const [fresh, kept] = watches
  const gaps = [fresh, kept].map(
    (each) => `${each?.longestGapMs.toFixed(0)} ms (${each?.failed} of ${each?.asked} failed)`,
  )
  console.log(`${how}: longest wait by new connections ${gaps[0]}, by kept ones ${gaps[1]}`)
  console.log(`  (before: ${usualMs.toFixed(0)} ms); streams whole: ${whole} of ${streams.length}`)
  second.kill('SIGTERM')
  await Promise.all([second.exited, first.exited])
  rmSync(dataDir, { recursive: true, force: true })
}

for (let turn = 0; turn < 3; turn++) await measure('replace')
await measure('stop and start')
process.exit(0)
