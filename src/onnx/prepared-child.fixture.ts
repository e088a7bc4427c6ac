/**
 * Opens the rewritten form of a graph and prints whether it was kept, for tests that give this process a disk of its
 * own.
 */
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { openRewritten } from './prepared.ts'
import { inRows } from './rewrite/row-products.ts'

const [source = ''] = process.argv.slice(2)
const opened = await openRewritten(
  source,
  'any',
  (model, made) => ({ graphs: { small: inRows(model, made) }, notes: null }),
  { threads: 1 },
)
for (const session of Object.values(opened?.sessions ?? {})) await session.release()
const notes = existsSync(join(dirname(source), 'prepared'))
  ? Array.from(new Bun.Glob('**').scanSync(join(dirname(source), 'prepared')))
  : []
console.log(JSON.stringify({ isOpen: opened !== null, kept: notes.map((path) => path.split('/').at(-1)).sort() }))
