/** `myna db move`: from the data folder of one server into a database that several can share. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Command } from 'commander'
import { loadConfig } from '../config.ts'
import { FolderVoiceFiles } from '../store/clips.ts'
import { FolderConsentFiles } from '../store/consents.ts'
import { moveRecords } from '../store/postgres/move.ts'
import { nameOf, openPostgres } from '../store/postgres/postgres.ts'
import { openSqlite } from '../store/sqlite.ts'
import { globalsOf } from './globals.ts'
import { lockOf } from './lock-of.ts'
import { databaseUrl, refusePassword } from './serve/records.ts'
import { counted } from './terminal/format.ts'
import { Failure, note, report } from './terminal/terminal.ts'

export const dbCommand = (): Command =>
  new Command('db').addCommand(
    new Command('move')
      .description('copy everything into an empty PostgreSQL database, and compare row by row')
      .option('--to <address>', 'postgres://USER@HOST/NAME; with a password: MYNA_DATABASE instead')
      .addHelpText(
        'after',
        `
The server must not run meanwhile. A move that was interrupted goes on when it is
started again. The data folder stays as it is; models stay in it.

Example:
  myna db move --to postgres://myna@db.example/myna
  myna serve --database postgres://myna@db.example/myna`,
      )
      .action(async ({ to }: { to?: string }, command: Command) => {
        refusePassword(to ?? '')
        const { json, config } = globalsOf(command)
        if (to === undefined && config.database === '') {
          command.error('Name the database: --to postgres://USER@HOST/NAME, or MYNA_DATABASE.')
        }
        const url = databaseUrl(to === undefined ? config : loadConfig({ ...config, database: to }))
        const { rows, voices } = await move(config.dataDir, url)
        const what = `${counted(rows, 'row')} and the files of ${counted(voices, 'voice')}`
        report(json, { rows, voices }, () => `Moved ${what} to ${nameOf(url)}. Compared.`)
      }),
  )

async function move(dataDir: string, url: string) {
  if (!existsSync(join(dataDir, 'myna.db'))) throw new Failure(`There is no database in ${dataDir}.`)
  const lock = lockOf(dataDir)
  try {
    const from = await openSqlite(dataDir)
    const to = await openPostgres(url, { connections: 2, isMove: true }).catch(async (error: unknown) => {
      await from.close()
      throw error
    })
    try {
      const onProgress = (what: string, count: number) => note(`${what}: ${count}`)
      const files = new FolderVoiceFiles(dataDir)
      const recordings = new FolderConsentFiles(dataDir, from)
      return await moveRecords({ from, to, files, recordings, onProgress })
    } finally {
      await Promise.all([from.close(), to.close()])
    }
  } finally {
    lock.release()
  }
}
