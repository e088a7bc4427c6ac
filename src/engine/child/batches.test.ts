import { expect, test } from 'bun:test'
import type { CutPart } from '../../models/silero/windows.ts'
import { batchesOf } from './batches.ts'

/** @param kinds one letter for each part: w, a window; s, silence */
async function batches(kinds: string, max: number): Promise<string[]> {
  async function* parts(): AsyncGenerator<CutPart> {
    for (const [at, kind] of [...kinds].entries()) {
      yield { startMs: at, heardMs: at + 1, pcm: kind === 'w' ? new Float32Array(1) : null }
    }
  }
  const names: string[] = []
  let at = 0
  for await (const batch of batchesOf(parts(), max)) {
    expect(batch.map(({ startMs }) => startMs)).toEqual(batch.map(() => at++))
    names.push(batch.map(({ pcm }) => (pcm === null ? 's' : 'w')).join(''))
  }
  return names
}

test('each batch has twice as many windows as the one before, up to the maximum', async () => {
  expect(await batches('w'.repeat(20), 8)).toEqual(['w', 'ww', 'wwww', 'wwwwwwww', 'wwwww'])
})

test('a model that transcribes one window after another gets single windows', async () => {
  expect(await batches('wwsw', 1)).toEqual(['w', 'w', 's', 'w'])
})

test('silence is reported at once before a window, and together with a batch after it', async () => {
  expect(await batches('sswswssws', 8)).toEqual(['s', 's', 'w', 's', 'wssw', 's'])
  expect(await batches('wws', 8)).toEqual(['w', 'ws'])
})

test('an empty input has no batches', async () => {
  expect(await batches('', 8)).toEqual([])
})
