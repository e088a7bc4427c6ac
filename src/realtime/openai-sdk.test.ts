import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'bun:test'
import { sound } from '../audio/clip.ts'
import { startListening } from '../http/transcription/transcription.fixture.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { onePair } from '../testing/tls-pairs.ts'
import { tone } from './client.fixture.ts'

const script = join(import.meta.dir, '../../scripts/clients/openai-realtime.mjs')

async function run(runtime: string): Promise<string> {
  const folder = temporaryFolder()
  const [tlsCert, tlsKey, clip] = ['server.crt', 'server.key', 'clip.wav'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  writeFileSync(tlsCert, onePair.cert)
  writeFileSync(tlsKey, onePair.key)
  writeFileSync(clip, sound.wav(tone(2), 24_000))
  await using instance = await startListening({ tlsCert, tlsKey })
  const key = await instance.key()
  const child = Bun.spawn([runtime, script, `${instance.url}/v1`, key, clip], {
    env: { ...process.env, NODE_EXTRA_CA_CERTS: tlsCert },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  expect([code, output, errors.replace(/^.*Warning.*$/gm, '').trim()]).toEqual([0, expect.any(String), ''])
  return output
}

test('OpenAI’s SDK transcribes over TLS with both of its sockets, by key and by client secret', async () => {
  const output = await run(process.execPath)
  for (const socket of ['ws', 'native']) {
    for (const what of ['turns by the server', 'turns by commits', 'a client secret opens a session']) {
      expect(output).toContain(`ok   ${socket}: ${what}`)
    }
  }
})

// Node is not needed to build or run Myna.
test.skipIf(Bun.which('node') === null)('and on Node', async () => {
  const output = await run(Bun.which('node')!)
  expect(output).toContain('ok   ws: turns by the server')
  expect(output).not.toContain('FAIL')
})
