/** What the rewritten encoder gives, beside the same file as published: small models of random weights, from NeMo. */
import { afterAll, expect, setDefaultTimeout, test } from 'bun:test'
import { join } from 'node:path'
import { fromS16 } from '../../audio/pcm.ts'
import type { Card } from '../../domain/card.ts'
import { createSession } from '../../onnx/back-end.ts'
import { multipliesBytesExactly } from '../../onnx/exact-bytes.ts'
import type { Session } from '../../onnx/session.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { distance } from '../whisper/branches.ts'
import { openEncoder } from './encoder.ts'
import { FeatureMeter } from './features.ts'
import { nemoClips, writeNemoModels } from './nemo.fixture.ts'

setDefaultTimeout(60_000)

const folder = temporaryFolder()
writeNemoModels(folder)
const opened: Session[] = []
afterAll(async () => {
  for (const session of opened) await session.release()
})

const encoderOf = (kind: string) => join(folder, kind, 'encoder-model.onnx')
const isExact = await multipliesBytesExactly()

async function encoded(session: Session): Promise<Float32Array> {
  opened.push(session)
  const [pcm] = Object.values(await nemoClips())
  const { values, frames, bands } = new FeatureMeter(128).measure(fromS16(pcm!))
  const { outputs } = await session.run({
    audio_signal: { type: 'float32', dims: [1, bands, frames + 1], data: values },
    length: { type: 'int64', dims: [1], data: BigInt64Array.of(BigInt(frames)) },
  })
  return outputs!.data as Float32Array
}

// Other processors run it as published.
test.skipIf(!isExact)('a rewritten encoder is about as exact as the published one of 8 bits, or more', async () => {
  const exact = await encoded(await createSession(encoderOf('fp32'), { threads: 1 }))
  const published = distance(await encoded(await createSession(encoderOf('int8'), { threads: 1 })), exact)
  const rewritten = async (kind: 'fp32' | 'int8') =>
    distance(await encoded(await openEncoder(encoderOf(kind), kind, 1)), exact)
  // Random weights have no loud rows, for which each row has its own scale, and all of it shows at the end.
  expect(await rewritten('int8')).toBeLessThan(1.15 * published)
  // Rounding shows, or the published graph was compared with itself.
  expect(await rewritten('fp32')).toBeWithin(0.01, published)
})

test.each(['fp16', null] as const)('an encoder of %s is run as it is', async (weights: Card['weights']) => {
  const published = await encoded(await createSession(encoderOf('fp32'), { threads: 1 }))
  expect(await encoded(await openEncoder(encoderOf('fp32'), weights, 1))).toEqual(published)
})
