import { expect, setDefaultTimeout, test } from 'bun:test'
import { runCommand } from '../testing/command.ts'

// Real processes, on machines that may be busy with other tests.
setDefaultTimeout(60_000)

const help = (...args: string[]) => runCommand(args, { env: { COLUMNS: '80' } })

test('help begins with first steps and lists each command in its group, without colours in a pipe', async () => {
  const { code, stdout } = await help('--help')
  expect(code).toBe(0)
  expect([...stdout.matchAll(/^(\w[\w ]*):$/gm)].map(([, name]) => name)).toEqual([
    'First steps',
    'Use',
    'Run',
    'Manage',
    'Keep',
    'More',
    'Options',
  ])
  expect(stdout).toMatch(/^Use:\n {2}speak\|say +speak a text/m)
  expect(stdout).toMatch(/^More:\n(.+\n)* {2}help \[command\]/m)
  expect(stdout).not.toContain('\u001b')
  expect(stdout).not.toMatch(/^ {2}(pull|engine|gpu-probe) /m)
  expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
})

test('the command names that people know from ollama do the same', async () => {
  const listed = await help('models', 'list', '--json')
  expect(JSON.parse(listed.stdout)).toBeArray()
  for (const name of ['list', 'ls']) expect(await help(name, '--json')).toEqual(listed)
  for (const name of ['pull', 'rm']) {
    const refused = await help(name, 'no-such-model')
    expect(refused).toEqual(await help('models', name, 'no-such-model'))
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('no-such-model')])
  }
  expect((await help('say', '--help')).stdout).toContain('myna speak|say')
})

test('what a command takes comes before what every command takes, in lines that fit the terminal', async () => {
  for (const [args, headings] of [
    [['voices'], ['Commands', 'More', 'Options', 'Global Options', 'Examples']],
    [
      ['voices', 'mix'],
      ['Arguments', 'Options', 'Server Options', 'Global Options', 'Example'],
    ],
    [['speak'], ['Arguments', 'Options', 'Server Options', 'Global Options', 'Examples']],
    [['service'], ['Commands', 'More', 'Options', 'Global Options', 'Examples']],
  ] as const) {
    const { stdout } = await help(...args, '--help')
    expect([...stdout.matchAll(/^(\w[\w ]*):$/gm)].map(([, name]) => name)).toEqual([...headings])
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
  }
})
