/**
 * Decides how much of a clip is given to the model at once (child side). A model that takes several windows at less
 * cost than one by one gets more of them as the clip continues: the first words come as early as ever, and the wait
 * for the next ones is never longer than the clip has taken so far.
 */
import type { CutPart } from '../../models/silero/windows.ts'

/**
 * @param max windows of speech at once
 * @returns the same parts in the same order, in batches: windows, and the silences between them. Silence before a
 * window is a batch of its own
 */
export async function* batchesOf(parts: AsyncIterable<CutPart>, max: number): AsyncGenerator<CutPart[]> {
  let wanted = 1
  let windows = 0
  let batch: CutPart[] = []
  for await (const part of parts) {
    batch.push(part)
    if (part.pcm !== null) windows++
    if (windows > 0 && windows < Math.min(wanted, max)) continue
    yield batch
    if (windows > 0) wanted *= 2
    windows = 0
    batch = []
  }
  if (batch.length > 0) yield batch
}
