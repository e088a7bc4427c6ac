/**
 * Kokoro's graph as it is run. On a processor that multiplies bytes exactly, the convolutions of an 8-bit file are
 * products of the same bytes (`onnx/rewrite/byte-convolutions.ts`): the same sound in about half of the time.
 */
import type { Card } from '../../domain/card.ts'
import { backEnd, createSession } from '../../onnx/back-end.ts'
import { multipliesBytesExactly } from '../../onnx/exact-bytes.ts'
import { openRewritten, type Rewrite } from '../../onnx/prepared.ts'
import { leastOpset, withoutConvolutions } from '../../onnx/rewrite/byte-convolutions.ts'
import { opsetOf } from '../../onnx/rewrite/graph.ts'
import type { Session } from '../../onnx/session.ts'

/** Changes whenever the graph is rewritten in another way: one that is kept in the old one is made again. */
const form = 'kokoro 1'

const rewrite: Rewrite<null> = (model, made) =>
  opsetOf(model) < leastOpset ? null : { graphs: { whole: withoutConvolutions(model, made) }, notes: null }

/** @param weights of the model's card @throws Error in ONNX Runtime's words */
export async function openGraph(path: string, weights: Card['weights'], threads: number): Promise<Session> {
  const rewrites = weights === 'int8' && !(await backEnd()).isOnCard && (await multipliesBytesExactly())
  const opened = rewrites ? await openRewritten(path, form, rewrite, { threads }) : null
  return opened?.sessions['whole'] ?? createSession(path, { threads })
}
