/**
 * The model cards, as parsed files of `models/` by file name: read from the folder, so that a new card needs no list.
 * The executable carries the cards that were made of them (`build/bundle.ts`).
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const folder = join(import.meta.dir, '..', '..', 'models')

export const cardFiles: Readonly<Record<string, unknown>> = Object.fromEntries(
  readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => [name, JSON.parse(readFileSync(join(folder, name), 'utf8')) as unknown]),
)
