/** A data folder that another user has closed to others, as a service does: to them it looks empty. */
import { accessSync, constants, statSync } from 'node:fs'
import type { Command } from 'commander'
import { clientEnv } from '../config.ts'
import { globalsOf } from './globals.ts'
import { Failure } from './terminal/terminal.ts'

export function isClosed(dataDir: string): boolean {
  try {
    // A file in its place is another fault.
    if (statSync(dataDir).isDirectory()) accessSync(dataDir, constants.R_OK | constants.X_OK)
    return false
  } catch (error) {
    return (error as { code?: string }).code === 'EACCES'
  }
}

/** @throws Failure where the command would take a closed folder for an empty one */
export function requireOpen(command: Command): void {
  // Doctor reports it among everything else, and a server that is named needs no folder.
  const isElsewhere = command.opts<{ url?: string }>().url !== undefined || Boolean(clientEnv().url)
  if (command.name() === 'doctor' || (isElsewhere && command.options.some(({ long }) => long === '--url'))) return
  const { dataDir } = globalsOf(command).config
  if (!isClosed(dataDir)) return
  throw new Failure(
    `The data folder ${dataDir} belongs to another user. Run the command as that user (sudo -u USER myna ...), or ` +
      'name another folder with --data.',
    'closed_folder',
  )
}
