/**
 * One ordinary key requests as much as it may at once, with texts that are spelled out letter by letter, and reads the
 * result. Another account must still be served in time, by the same engine.
 */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { until } from '../../testing/until.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(120_000)

const dataDir = join(temporaryFolder(), 'data')
let program: Program
beforeAll(async () => {
  program = await startProgram(dataDir)
})
afterAll(() => program?.end())

async function keyOf(account: string): Promise<string> {
  const { stdout } = await runCommand(['keys', 'create', '--account', account, '--json'], {
    env: { MYNA_DATA: dataDir },
  })
  return (JSON.parse(stdout) as { secret: string }).secret
}

test('sixteen streams of spelled letters delay no other account and kill no engine', async () => {
  const [greedy, modest] = [await keyOf('greedy'), await keyOf('modest')]
  expect((await program.speak(modest, { input: 'Good evening.', response_format: 'pcm' })).status).toBe(200)
  const { pid } = await program.engine()
  const leaving = new AbortController()
  let givenBytes = 0
  const attacks = Array.from({ length: 16 }, async () => {
    const body = JSON.stringify({ input: 'M'.repeat(4096), response_format: 'pcm' })
    const answer = await program.fetch('/v1/audio/speech', greedy, { method: 'POST', body, signal: leaving.signal })
    for await (const bytes of answer.body!) givenBytes += bytes.length
  })
  const over = Promise.allSettled(attacks)
  await until('the attack is running', () => givenBytes > 1_000_000, 60_000)
  for (const input of ['The kettle has boiled.', 'Turn left after the bridge.', 'It rained all morning.']) {
    const answer = await program.speak(modest, { input, response_format: 'pcm' })
    expect(answer.status).toBe(200)
    expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(48_000)
  }
  leaving.abort()
  await over
  const { restarts, pid: last } = await program.engine()
  expect([restarts, last]).toEqual([0, pid])
})
