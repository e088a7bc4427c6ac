/** The engine is killed in the middle of a stream of the built-in voice: its client gets the same bytes as ever. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Program, startProgram } from '../../testing/program.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(120_000)

let program: Program
beforeAll(async () => {
  program = await startProgram(join(temporaryFolder(), 'data'))
})
afterAll(() => program?.end())

const input = 'It rained all morning, and by noon the little stream had become a brown river. '.repeat(20)

test.each(['pcm', 'mp3'])('a stream of %s is whole although its engine was killed', async (format) => {
  const body = { input, voice: 'lark', response_format: format }
  const whole = new Uint8Array(await (await program.speak(program.key, body)).arrayBuffer())
  const { restarts, pid } = await program.engine()
  const answer = await program.speak(program.key, body)
  expect(answer.status).toBe(200)
  const pieces: Uint8Array[] = []
  for await (const bytes of answer.body!) {
    if (pieces.length === 0) process.kill(pid!, 'SIGKILL')
    pieces.push(bytes)
  }
  expect(Buffer.concat(pieces).equals(whole)).toBe(true)
  expect((await program.engine()).restarts).toBe(restarts + 1)
  expect(program.stderr()).toContain('a stream continues in the next engine, after ')
})
