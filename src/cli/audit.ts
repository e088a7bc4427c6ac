/** `myna audit`: whether the records of a data folder keep their rules, looked up by code that wrote none of them. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { audit, type AuditReport } from '../audit/audit.ts'
import { counted } from './terminal/format.ts'
import { globalsOf } from './globals.ts'
import { Failure, green, red, report } from './terminal/terminal.ts'

export const auditCommand = (): Command =>
  new Command('audit')
    .option('--quick', 'skip indexes and the files of voices')
    .addHelpText(
      'after',
      `
Reads the database and the files of voices, and recalculates what each account has and
owes, what each operation was charged, what usage counts, and which voices have their
files. It changes nothing and may run while the server does.
Exits 1 if a rule is broken.`,
    )
    .action(async ({ quick }: { quick?: boolean }, command: Command) => {
      const { json, config } = globalsOf(command)
      const path = join(config.dataDir, 'myna.db')
      if (!existsSync(path)) throw new Failure(`There is no database in ${config.dataDir}.`, 'no_database')
      const found = await audit(config.dataDir, quick === true ? 'quick' : 'full')
      report(json, { healthy: found.faults.length === 0, ...found }, () => text(found))
      if (found.faults.length > 0) process.exitCode = 1
    })

function text({ faults, seen }: AuditReport): string {
  const looked = [
    counted(seen.accounts, 'account'),
    counted(seen.operations, 'operation'),
    counted(seen.usage, 'usage record'),
    counted(seen.voices, 'voice'),
  ].join(', ')
  if (faults.length === 0) return `${green('ok')}  every rule holds: ${looked}`
  return [
    ...faults.map(({ rule, words }) => `${red('FAIL')}  ${rule}: ${words}`),
    counted(faults.length, 'fault'),
  ].join('\n')
}
