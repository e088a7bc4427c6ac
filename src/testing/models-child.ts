/**
 * The program with other cards than its own, in a process of its own: `myna models` against a test hub. Its first
 * argument is a file with the cards as JSON, the rest are the program's.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { main } from '../cli/program.ts'
import type { Card } from '../domain/card.ts'
import { temporaryFolder } from './folder.ts'

/** What starts the program with these cards. */
export function withCards(cards: readonly Card[]): string[] {
  const path = join(temporaryFolder(), 'cards.json')
  writeFileSync(path, JSON.stringify(cards))
  return [process.execPath, import.meta.path, path]
}

if (import.meta.main) {
  const [path = '', ...args] = process.argv.slice(2)
  process.exitCode = await main(args, JSON.parse(readFileSync(path, 'utf8')) as Card[])
}
