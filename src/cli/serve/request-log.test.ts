import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { until } from '../../testing/until.ts'

// A real process, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

let program: Program
beforeAll(async () => {
  program = await startProgram(temporaryFolder())
})
afterAll(() => program.end())

test('each request is one line, without its text and its key; probes are not logged', async () => {
  const input = 'A text that no log may hold.'
  await program.fetch('/healthz')
  await (await program.speak(program.key, { input, model: 'no-such-model' })).text()
  const missing = await program.fetch('/v1/operations/op_secret', program.key)
  const id = missing.headers.get('x-request-id')
  await until('the last line', () => program.stderr().includes(`id=${id}`))
  const lines = program
    .stderr()
    .split('\n')
    .filter((line) => / INFO (GET|POST) /.test(line))
  expect(lines).toHaveLength(2)
  expect(lines[0]).toMatch(/ INFO POST \/v1\/audio\/speech status=40\d ms=\d+ id=req_\w+ account=acct_\w+$/)
  expect(lines[1]).toMatch(/ INFO GET \/v1\/operations\/\{operation_id\} status=404 /)
  for (const secret of [input, program.key, 'op_secret', 'healthz']) expect(program.stderr()).not.toContain(secret)
})
