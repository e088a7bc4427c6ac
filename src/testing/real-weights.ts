/**
 * Published weights, for tests of what random weights cannot show. They are not in the repository (tens to hundreds of
 * megabytes). Each model has a folder, named and filled as `myna models import` expects it, below MYNA_REAL_WEIGHTS or
 * else in the user's cache folder. If a model is missing, its tests are skipped and the reason is printed once.
 */
import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache')
export const realWeightsRoot = process.env['MYNA_REAL_WEIGHTS'] || join(cache, 'myna', 'real-weights')

/** @param id of the card, which is the folder's name @returns the folder; null: it is not on this machine */
export function realWeights(id: string): string | null {
  const folder = join(realWeightsRoot, id)
  if (existsSync(folder)) return folder
  console.warn(`skipped: no published weights of ${id} in MYNA_REAL_WEIGHTS or <cache folder>/myna/real-weights`)
  return null
}
