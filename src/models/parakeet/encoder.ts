/**
 * Parakeet's encoder as it is run. On a processor that multiplies bytes exactly, products with its weights are products
 * of bytes, each row rounded by itself (`onnx/rewrite/row-products.ts`), and so are convolutions of bytes. It takes
 * about half of the time that either of the published files takes there.
 */
import type { Card } from '../../domain/card.ts'
import { backEnd, createSession } from '../../onnx/back-end.ts'
import { multipliesBytesExactly } from '../../onnx/exact-bytes.ts'
import { openRewritten, type Rewrite } from '../../onnx/prepared.ts'
import { leastOpset, withoutConvolutions } from '../../onnx/rewrite/byte-convolutions.ts'
import { opsetOf } from '../../onnx/rewrite/graph.ts'
import { inRows } from '../../onnx/rewrite/row-products.ts'
import type { Session } from '../../onnx/session.ts'

/** Changes whenever the graph is rewritten in another way: one that is kept in the old one is made again. */
const form = 'parakeet 2'

const rewrite: Rewrite<null> = (model, made) => {
  const rows = inRows(model, made)
  return { graphs: { encoder: opsetOf(model) < leastOpset ? rows : withoutConvolutions(rows, made) }, notes: null }
}

/** @param weights of the model's card @throws Error in ONNX Runtime's words */
export async function openEncoder(path: string, weights: Card['weights'], threads: number): Promise<Session> {
  const isOfProcessor = (weights === 'int8' || weights === 'fp32') && !(await backEnd()).isOnCard
  if (!isOfProcessor || !(await multipliesBytesExactly())) return createSession(path, { threads })
  const opened = await openRewritten(path, form, rewrite, { threads })
  return opened?.sessions['encoder'] ?? createSession(path, { threads })
}
