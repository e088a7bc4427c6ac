/**
 * Published weights, for tests of what random ones cannot show. They are no part of the repository (tens to hundreds of
 * megabytes): a folder for each model, named and filled as `myna models import` takes it, below MYNA_REAL_WEIGHTS or
 * else in the user's cache folder. Where a model is not there its tests are skipped, and the reason is printed once.
 */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
export const realWeightsRoot = process.env['MYNA_REAL_WEIGHTS'] || join(cache, 'myna', 'real-weights')

/** @param id of the card, as the folder is named @returns the folder; null: it is not on this machine */
export function realWeights(id: string): string | null {
  const folder = join(realWeightsRoot, id)
  if (existsSync(folder)) return folder
  console.warn(`skipped: no published weights of ${id} in MYNA_REAL_WEIGHTS or <cache folder>/myna/real-weights`)
  return null
}
