/** `myna audit`: whether the records of a data folder, or of a shared database, keep their rules. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { audit, type AuditReport, type Depth } from '../audit/audit.ts'
import { auditPostgres } from '../audit/postgres.ts'
import type { Config } from '../config.ts'
import { nameOf } from '../store/postgres/postgres.ts'
import { counted } from './terminal/format.ts'
import { globalsOf } from './globals.ts'
import { databaseUrl } from './serve/records.ts'
import { Failure, green, red, report } from './terminal/terminal.ts'

export const auditCommand = (): Command =>
  new Command('audit')
    .option('--quick', 'skip indexes and the files of voices')
    .addHelpText(
      'after',
      `
Reads the database and the files of voices, and recalculates what each account has and
owes, what each operation was charged, what usage counts, and which voices have their
files. It changes nothing and may run while the server does. With MYNA_DATABASE set it
reads that database, from one moment.
Exits 1 if a rule is broken.`,
    )
    .action(async ({ quick }: { quick?: boolean }, command: Command) => {
      const { json, config } = globalsOf(command)
      const depth = quick === true ? 'quick' : 'full'
      const found = await (config.database === '' ? auditFolder(config.dataDir, depth) : auditShared(config, depth))
      report(json, { healthy: found.faults.length === 0, ...found }, () => text(found))
      if (found.faults.length > 0) process.exitCode = 1
    })

function auditFolder(dataDir: string, depth: Depth): Promise<AuditReport> {
  if (existsSync(join(dataDir, 'myna.db'))) return audit(dataDir, depth)
  throw new Failure(`There is no database in ${dataDir}.`, 'no_database')
}

async function auditShared(config: Config, depth: Depth): Promise<AuditReport> {
  const url = databaseUrl(config)
  try {
    return await auditPostgres(url, depth)
  } catch (error) {
    throw new Failure(`${nameOf(url)} cannot be audited: ${(error as Error).message}`, 'no_database')
  }
}

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
