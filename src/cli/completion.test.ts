import { expect, test } from 'bun:test'
import { runCommand } from '../testing/command.ts'

/** What bash would offer for a command line whose last word is being typed. */
async function offered(...words: string[]): Promise<string[]> {
  const { stdout: script } = await runCommand(['completion', 'bash'])
  const line = words.map((word) => `'${word}'`).join(' ')
  const ask = `COMP_WORDS=(myna ${line}); COMP_CWORD=${words.length}; _myna; printf '%s\\n' "\${COMPREPLY[@]}"`
  const bash = Bun.spawnSync(['bash', '--norc', '-c', `${script}\n${ask}`], { cwd: import.meta.dir })
  expect(bash.stderr.toString()).toBe('')
  return bash.stdout.toString().trim().split('\n')
}

test('bash is offered commands, their subcommands, and options', async () => {
  expect(await offered('se')).toEqual(['serve', 'service'])
  expect(await offered('accounts', 'cre')).toEqual(['create', 'credit'])
  expect(await offered('accounts', 'create', 'anna', '--pre')).toEqual(['--prepaid'])
  expect(await offered('--json', 'voices', 'cl')).toEqual(['clone'])
})

test('files are offered where no command fits', async () => {
  expect(await offered('transcribe', 'completion.te')).toEqual(['completion.test.ts'])
})

test('hidden commands are not offered, and an unknown shell is refused', async () => {
  const { stdout } = await runCommand(['completion', 'fish'])
  expect(stdout).toContain("-a serve -d '")
  expect(stdout).not.toContain('selfcheck')
  expect(await runCommand(['completion', 'tcsh'])).toMatchObject({ code: 2, stderr: expect.stringContaining('bash') })
})
