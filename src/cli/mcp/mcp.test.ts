/** `myna mcp` as assistants use it: the official client starts the program, which talks to a real server. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { sound } from '../../audio/clip.ts'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { type Program, startProgram } from '../../testing/program.ts'
import { clipRateHz, talk } from '../../testing/speech-clips.ts'
import { until } from '../../testing/until.ts'
import { Folder, usualFolder } from './folder.ts'

// Real processes and engines, on machines that may be busy with other tests.
setDefaultTimeout(120_000)

const main = join(import.meta.dir, '..', '..', 'main.ts')
const folder = temporaryFolder()
let program: Program
let client: Client
let transport: StdioClientTransport

beforeAll(async () => {
  program = await startProgram(temporaryFolder())
  ;({ client, transport } = await connect())
})
afterAll(async () => {
  await client.close()
  await program.end()
})

async function connect(flags: string[] = []) {
  const args = [main, 'mcp', '--url', program.url, '--key', program.key, '--folder', folder, ...flags]
  // There is no player on this path, so speech is saved.
  const env = { PATH: '/nonexistent', HOME: folder }
  const stdio = new StdioClientTransport({ command: process.execPath, args, env, stderr: 'ignore' })
  const connected = new Client({ name: 'test', version: '1' })
  await connected.connect(stdio)
  return { client: connected, transport: stdio, [Symbol.asyncDispose]: () => connected.close() }
}

interface Answer {
  isError?: boolean
  content: { type: string; text?: string; uri?: string; mimeType?: string }[]
}
const call = async (name: string, given: Record<string, unknown>) =>
  (await client.callTool({ name, arguments: given })) as unknown as Answer
const textOf = ({ content }: Answer) => content[0]?.text ?? ''

describe('the official client', () => {
  test('is introduced and gets the tools', async () => {
    expect(client.getServerVersion()).toMatchObject({ name: 'myna', title: 'Myna' })
    expect(client.getServerCapabilities()).toEqual({ tools: {} })
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(['speak', 'transcribe', 'list_voices', 'clone_voice'])
    expect(tools[3]?.inputSchema.required).toEqual(['path', 'name', 'consent'])
    expect(tools[2]?.annotations).toEqual({ readOnlyHint: true, openWorldHint: false })
    expect(await client.ping()).toEqual({})
  })

  test('speech is saved, and transcribed again', async () => {
    const spoken = await call('speak', { text: 'The small boat drifted past the bridge.', save_to: 'boat.wav' })
    expect(textOf(spoken)).toMatch(/^Saved as .*boat\.wav: [\d.]+ s of speech\.$/)
    expect(spoken.content[1]).toMatchObject({ type: 'resource_link', name: 'boat.wav', mimeType: 'audio/wav' })
    expect(
      readFileSync(new URL(spoken.content[1]?.uri ?? ''))
        .subarray(0, 4)
        .toString(),
    ).toBe('RIFF')
    const told: string[] = []
    const request = { name: 'transcribe', arguments: { path: 'boat.wav' } }
    const options = { onprogress: ({ message }: { message?: string | undefined }) => void told.push(message ?? '') }
    const heard = (await client.callTool(request, undefined, options)) as unknown as Answer
    expect(textOf(heard).toLowerCase()).toContain('boat drifted')
    expect(told[0]).toBe('Sending boat.wav')
    const saved = await call('transcribe', { path: 'boat.wav', format: 'srt', save_to: 'boat.srt' })
    expect(textOf(saved)).toMatch(/^Saved as .*boat\.srt\.$/)
    expect(readFileSync(join(folder, 'boat.srt'), 'utf8')).toContain(' --> ')
  })

  test('without a name and a player it goes to a file of its own', async () => {
    const answer = await call('speak', { text: 'Unnamed.', speed: 1.5 })
    expect(textOf(answer)).toMatch(/^Saved as .*speech-.*\.mp3: /)
    expect(readdirSync(folder).filter((name) => name.startsWith('speech-'))).toHaveLength(1)
  })

  test('a voice is cloned, listed and spoken with', async () => {
    writeFileSync(join(folder, 'anna.wav'), sound.wav(await talk(), clipRateHz))
    const made = await call('clone_voice', { path: 'anna.wav', name: 'Anna', consent: 'Anna, on 3 May' })
    expect(textOf(made)).toStartWith("'Anna' is ready: ")
    expect(textOf(await call('list_voices', {}))).toContain('"name":"Anna"')
    expect(textOf(await call('list_voices', { language: 'xx' }))).not.toContain('"language":"en')
    expect((await call('speak', { text: 'Hello.', voice: 'Anna', save_to: 'hello.opus' })).isError).toBeUndefined()
  })
})

describe('errors are reported to the model', () => {
  const refused: [string, string, Record<string, unknown>, string][] = [
    ['a voice that is not there', 'speak', { text: 'Hi.', voice: 'nobody', save_to: 'a.mp3' }, 'voice_not_found'],
    ['no text', 'speak', {}, 'invalid_argument'],
    ['a speed out of range', 'speak', { text: 'Hi.', speed: 9 }, 'invalid_argument'],
    ['an unknown argument', 'speak', { text: 'Hi.', volume: 3 }, 'invalid_argument'],
    ['an unknown kind of file', 'speak', { text: 'Hi.', save_to: 'a.txt' }, 'invalid_argument'],
    ['an unknown format', 'transcribe', { path: 'boat.wav', format: 'pdf' }, 'invalid_argument'],
    ['a file outside', 'transcribe', { path: '/etc/hostname' }, 'outside_folder'],
    ['a way out', 'speak', { text: 'Hi.', save_to: '../a.mp3' }, 'outside_folder'],
    ['a file that is not there', 'transcribe', { path: 'none.wav' }, 'cannot_read'],
    ['a file that is no recording', 'transcribe', { path: 'text.wav' }, 'invalid_audio'],
    ['a file that exists', 'speak', { text: 'Hi.', save_to: 'text.wav' }, 'file_exists'],
  ]
  test.each(refused)('%s', async (_, tool, given, code) => {
    writeFileSync(join(folder, 'text.wav'), 'This is no recording.')
    const answer = await call(tool, given)
    expect(answer.isError).toBe(true)
    expect(textOf(answer)).toEndWith(`[${code}]`)
    expect(textOf(answer).split(code)).toHaveLength(2)
  })

  test('without a valid key, every tool says how to get one', async () => {
    await using other = await connect(['--key', 'sk-myna-wrong'])
    for (const [name, given] of [
      ['list_voices', {}],
      ['speak', { text: 'Hello.', save_to: 'never.mp3' }],
      ['transcribe', { path: 'boat.wav' }],
      ['clone_voice', { path: 'boat.wav', name: 'Ada', consent: 'I am Ada.' }],
    ] as const) {
      const answer = (await other.client.callTool({ name, arguments: given })) as unknown as Answer
      expect(answer.isError).toBe(true)
      expect(`${name}: ${textOf(answer)}`).toContain('myna keys create --account NAME')
    }
  })

  test('an unknown tool or method is an error of the protocol', async () => {
    await expect(call('sing', {})).rejects.toThrow("There is no tool 'sing'.")
    await expect(client.listPrompts()).rejects.toThrow()
    expect(textOf(await call('list_voices', {}))).toContain('"id"')
  })

  test('a request that is cancelled stops the work, and leaves nothing behind', async () => {
    const giveUp = new AbortController()
    const request = { name: 'speak', arguments: { text: 'A long text. '.repeat(300), save_to: 'long.wav' } }
    const answer = client.callTool(request, undefined, { signal: giveUp.signal })
    await until('it is running', () => sizeOf('long.wav.part') > 0)
    giveUp.abort()
    await expect(answer).rejects.toThrow()
    await until('it is cancelled', async () => (await newest()).outcome === 'cancelled')
    await until('the partial file is gone', () => sizeOf('long.wav.part') < 0)
    expect(sizeOf('long.wav')).toBe(-1)
  })

  test('closing the assistant stops the work and ends the program', async () => {
    const other = await connect()
    const request = { name: 'speak', arguments: { text: 'Another long text. '.repeat(200), save_to: 'longer.wav' } }
    const answer = other.client.callTool(request).catch(() => null)
    await until('it is running', () => sizeOf('longer.wav.part') > 0)
    expect(other.transport.pid).not.toBe(transport.pid)
    await Promise.all([other.client.close(), answer])
    await until('it is cancelled', async () => (await newest()).outcome === 'cancelled')
    expect(sizeOf('longer.wav')).toBe(-1)
  })
})

const sizeOf = (name: string): number => statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? -1

async function newest() {
  const answer = await program.fetch('/v1/operations?limit=1', program.key)
  const { data } = (await answer.json()) as { data: { outcome: string | null }[] }
  return data[0] ?? { outcome: null }
}

test('rubbish is answered line by line, and nothing else is written', async () => {
  const say = (message: object) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`
  const stdin = [
    'this is no JSON\n',
    '[1, 2]\n',
    'null\n',
    '\n',
    say({ id: 7, result: {} }),
    say({ method: 'notifications/cancelled', params: { requestId: 99 } }),
    say({ method: 'notifications/unheard', params: null }),
    say({ id: 'a', method: 'initialize', params: { protocolVersion: '2024-11-05' } }),
    say({ id: 'b', method: 'initialize', params: { protocolVersion: '1999-01-01' } }),
    say({ id: 'c', method: 'resources/list' }),
    say({ id: 'd', method: 'tools/call', params: { name: 'speak', arguments: [] } }),
  ].join('')
  const { code, stdout } = await runCommand(['mcp', '--folder', folder], { stdin })
  expect(code).toBe(0)
  const answers = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: unknown; error?: { code: number }; result?: Record<string, unknown> })
  expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
    [null, -32700],
    [null, -32600],
    [null, -32600],
    ['a', undefined],
    ['b', undefined],
    ['c', -32601],
    ['d', undefined],
  ])
  expect(answers[3]?.result?.protocolVersion).toBe('2024-11-05')
  expect(answers[4]?.result?.protocolVersion).toBe('2025-11-25')
  expect(answers[6]?.result?.isError).toBe(true)
})

test('an endless message is refused before it fills the memory', async () => {
  const { code, stdout } = await runCommand(['mcp', '--folder', folder], { stdin: 'x'.repeat(5 * 1024 * 1024) })
  expect(code).toBe(0)
  expect(stdout).toContain('"code":-32600')
})

describe('the folder', () => {
  test('links do not lead out of it', async () => {
    const inside = temporaryFolder()
    const outside = temporaryFolder()
    writeFileSync(join(outside, 'secret.wav'), 'secret')
    symlinkSync(join(outside, 'secret.wav'), join(inside, 'linked.wav'))
    symlinkSync(outside, join(inside, 'there'))
    symlinkSync(join(outside, 'victim'), join(inside, 'new.mp3.part'))
    mkdirSync(join(inside, 'below'))
    const files = new Folder(inside)
    await expect(files.toRead('linked.wav')).rejects.toThrow('Only files in')
    await expect(files.toRead('there/secret.wav')).rejects.toThrow('Only files in')
    await expect(files.toWrite('there/new.mp3')).rejects.toThrow('Only files in')
    await expect(files.toWrite('new.mp3')).rejects.toThrow('exists')
    await expect(files.toWrite('.')).rejects.toThrow('Only files in')
    await expect(files.toWrite('none/new.mp3')).rejects.toThrow('There is no folder')
    expect(await files.toWrite('below/..new.mp3')).toBe(join(inside, 'below', '..new.mp3'))
  })

  test('is the current one, unless that is the root or the home folder', () => {
    expect(usualFolder('/home/ada/work', '/home/ada')).toBe('/home/ada/work')
    expect(usualFolder('/home/ada', '/home/ada')).toBe('/home/ada/Myna')
    expect(usualFolder('/', '/home/ada')).toBe('/home/ada/Myna')
  })
})
