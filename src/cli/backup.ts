/** `myna backup` and `myna restore`: the database and the files of voices as one file, and back. */
import { resolve } from 'node:path'
import { Command } from 'commander'
import { version } from '../../package.json' with { type: 'json' }
import { BackupError } from '../backup/archive.ts'
import { backUp } from '../backup/backup.ts'
import { restore } from '../backup/restore.ts'
import { systemClock } from '../domain/time.ts'
import type { Config } from '../config.ts'
import { bytes, counted } from './terminal/format.ts'
import { placeOf } from './client/target.ts'
import { globalsOf } from './globals.ts'
import { codeOf } from '../store/errors.ts'
import { lockOf } from './lock-of.ts'
import { Failure, report } from './terminal/terminal.ts'

export const backupCommand = (): Command =>
  new Command('backup')
    .argument('<file>', 'a tar file that does not exist yet')
    .addHelpText(
      'after',
      `
Can run while the server does: the file holds everything from one moment. It is read
back and compared before the command ends. Models are not included: myna models pull.
The file contains people's voices and the hashes of keys; only you can read it.

Example:
  myna backup myna-$(date +%F).tar`,
    )
    .action(async (file: string, _options, command: Command) => {
      const { json, config } = globalsOf(command)
      refuseShared(config, 'Back them up with its own tool: pg_dump --format=custom --file=FILE ADDRESS')
      // Also for the copy that SQLite makes.
      process.umask(0o077)
      await placeOf(file)
      const made = await told(() => backUp(config.dataDir, resolve(file), version, new Date(systemClock.nowMs())))
      const { path, voices, manifest } = made
      const facts = { path, bytes: made.bytes, voices, madeAt: manifest.made_at }
      report(json, facts, () => `Wrote ${path}: ${bytes(made.bytes)}, ${counted(voices, 'voice')}. Verified.`)
    })

export const restoreCommand = (): Command =>
  new Command('restore')
    .argument('<file>', 'a file from myna backup')
    .option('--replace', 'replace an existing database: it moves into a folder beside it')
    .addHelpText(
      'after',
      `
The server must not run on the data folder. The whole backup is checked before anything
is touched, and the old data is kept in a folder before-restore-TIME. Clients that sent
requests after the backup will find no record of them.

Examples:
  myna restore myna-2026-11-22.tar
  myna restore myna-2026-11-22.tar --data /srv/other     inspect it beside a running server`,
    )
    .action(async (file: string, { replace }: { replace?: boolean }, command: Command) => {
      const { json, config } = globalsOf(command)
      refuseShared(config, 'Restore them with its own tool: pg_restore --dbname=ADDRESS FILE, into an empty database')
      const { dataDir } = config
      const lock = lockOf(dataDir)
      try {
        const now = new Date(systemClock.nowMs())
        const facts = await told(() => restore(dataDir, resolve(file), replace === true, now))
        const { manifest, accounts, voices, former } = facts
        const kept = former === null ? '' : `\nThe old data is kept in ${former}.`
        const what = `${counted(accounts, 'account')}, ${counted(voices, 'voice')}`
        report(
          json,
          { madeAt: manifest.made_at, accounts, voices, former },
          () => `Restored ${dataDir} as of ${manifest.made_at}: ${what}. Verified.${kept}`,
        )
      } finally {
        lock.release()
      }
    })

/**
 * PostgreSQL's own tools copy everything from one moment, know its versions, and go with its standbys and archives.
 * @throws Failure where the records are not in the data folder
 */
function refuseShared({ database }: Pick<Config, 'database'>, instead: string): void {
  if (database === '') return
  throw new Failure(`The records are in PostgreSQL (MYNA_DATABASE). ${instead}`, 'shared_database')
}

async function told<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof BackupError) throw new Failure(error.message, 'backup_failed')
    if (!['SQLITE_FULL', 'ENOSPC', 'EDQUOT'].includes(codeOf(error))) throw error
    throw new Failure('The disk is full, and nothing has changed. Free some space, then try again.', 'disk_full')
  }
}
