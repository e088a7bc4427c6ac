/**
 * Starts the program from source with other cards than its own. It is a module of a few lines, so that an engine, which
 * the server starts with the server's own command, has the same cards.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Card } from '../domain/card.ts'
import { temporaryFolder } from './folder.ts'

const program = join(import.meta.dir, '..', 'cli', 'program.ts')

/** The command that starts the program with these cards. */
export function withCards(cards: readonly Card[]): string[] {
  const folder = temporaryFolder()
  writeFileSync(join(folder, 'cards.json'), JSON.stringify(cards))
  const entry = join(folder, 'entry.ts')
  const lines = [
    `import { main } from ${JSON.stringify(program)}`,
    `import cards from './cards.json'`,
    'process.exitCode = await main(process.argv.slice(2), cards)',
  ]
  writeFileSync(entry, `${lines.join('\n')}\n`)
  return [process.execPath, entry]
}
