import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { expect, test } from 'bun:test'
import { temporaryFolder } from '../../testing/folder.ts'
import { startInstance } from '../../testing/instance.ts'
import { startProgram } from '../../testing/program.ts'
import { onePair, type TestPair, twoPair } from '../../testing/tls-pairs.ts'
import { until } from '../../testing/until.ts'

const unchecked = { tls: { rejectUnauthorized: false } }

function filesOf(pair: TestPair) {
  const folder = temporaryFolder()
  const files = { tlsCert: join(folder, 'server.crt'), tlsKey: join(folder, 'server.key') }
  const write = (next: Partial<TestPair>) => {
    if (next.cert !== undefined) writeFileSync(files.tlsCert, next.cert)
    if (next.key !== undefined) writeFileSync(files.tlsKey, next.key)
  }
  write(pair)
  return { files, write }
}

/** The name in the certificate that the server shows now. */
function shownName(url: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port), rejectUnauthorized: false }, () => {
      resolve(String(socket.getPeerCertificate().subject.CN))
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

test('the API speaks https with the given certificate', async () => {
  const { files } = filesOf(onePair)
  await using instance = await startInstance(files)
  expect(instance.url).toStartWith('https://')
  const answer = await fetch(`${instance.url}/health`, { tls: { ca: onePair.cert } })
  expect(await answer.json()).toMatchObject({ status: 'ok' })
  for (const host of ['nas', 'voice.example']) {
    const slashed = await fetch(`${instance.url}/v1/audio/models/`, { ...unchecked, headers: { host } })
    expect([host, slashed.status]).toEqual([host, 200])
  }
  expect(await shownName(instance.url)).toBe('myna-test-one')
})

test('a new pair is used while a stream continues to its end', async () => {
  const { files, write } = filesOf(onePair)
  await using instance = await startInstance(files)
  const held = Promise.withResolvers<void>()
  instance.engine.plan = () => ({ before: (frame) => (frame === 2 ? held.promise : undefined) })
  const speech = await fetch(`${instance.url}/v1/audio/speech`, {
    method: 'POST',
    ...unchecked,
    headers: { authorization: `Bearer ${instance.adminKey}` },
    body: JSON.stringify({ input: 'hello', voice: 'alloy', response_format: 'pcm' }),
  })
  write(twoPair)
  instance.server.renewTls()
  expect(await shownName(instance.url)).toBe('myna-test-two')
  expect((await fetch(`${instance.url}/health`, { tls: { ca: twoPair.cert } })).status).toBe(200)
  held.resolve()
  expect((await speech.arrayBuffer()).byteLength).toBe(4 * 2400 * 2)
})

test.each([
  ['a key of another certificate', { key: twoPair.key }, 'not that of the certificate'],
  ['rubbish', { cert: 'rubbish' }, 'not a certificate and its key'],
  // As a client of an authority writes it, step by step.
  [
    'a chain that is only half written',
    { ...twoPair, cert: twoPair.cert + onePair.cert.slice(0, 300) },
    'not a certificate and its key',
  ],
])('%s is refused, and the old pair stays in use', async (_, next, words) => {
  const { files, write } = filesOf(onePair)
  await using instance = await startInstance(files)
  write(next)
  expect(() => instance.server.renewTls()).toThrow(words)
  expect(await shownName(instance.url)).toBe('myna-test-one')
})

test('a start with half a pair, or with an unreadable one, says so', async () => {
  const { files } = filesOf(onePair)
  await expect(startInstance({ tlsCert: files.tlsCert })).rejects.toThrow('TLS needs both')
  await expect(startInstance({ ...files, tlsKey: '/nowhere/x.key' })).rejects.toThrow('/nowhere/x.key cannot be read')
})

test('SIGHUP makes the program read them again', async () => {
  const { files, write } = filesOf(onePair)
  const program = await startProgram(temporaryFolder(), {}, ['--tls-cert', files.tlsCert, '--tls-key', files.tlsKey])
  expect(await shownName(program.url)).toBe('myna-test-one')
  write(twoPair)
  program.kill('SIGHUP')
  // For a moment between the two, the port is closed.
  const shown = () => shownName(program.url).catch(() => 'nobody')
  await until('the new certificate is shown', async () => (await shown()) === 'myna-test-two')
  await program.end()
})
