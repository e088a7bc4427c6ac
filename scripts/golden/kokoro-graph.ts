/**
 * Writes src/models/kokoro/golden/: a small graph of Kokoro's shape, and the output of its author's own pipeline for
 * it. `bun scripts/golden/kokoro-graph.ts [PYTHON]`
 */
import { join } from 'node:path'
import { symbolIds } from '../../src/phonemes/symbols.ts'

const folder = join(import.meta.dir, '..', '..', 'src', 'models', 'kokoro', 'golden')
const script = join(import.meta.dir, 'kokoro-graph.py')
const { success, stderr } = Bun.spawnSync([process.argv[2] ?? 'python3', script, folder], {
  stdin: Buffer.from(JSON.stringify(Object.fromEntries(symbolIds))),
})
if (!success) throw new Error(stderr.toString())
