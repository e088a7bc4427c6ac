/**
 * Attention of a sound to itself becomes ONNX Runtime's `MultiHeadAttention`, which computes it block by block: as
 * exported, the shares of 1,500 positions for 1,500 others are in memory for all heads at once, 72 MB for Whisper base,
 * and more than once.
 */
import { type Constant, elementTypes, floatAttribute, type Graph, type Node } from './graph.ts'
import { microsoft, pruned, tensorIn, wholeAttribute } from './graph.ts'

/** The graph itself where it has no attention of this form. */
export function inHeads(graph: Graph): Graph {
  const rewriting = new Rewriting(graph)
  const nodes = graph.nodes.map((node) => rewriting.attention(node) ?? node)
  return pruned({ ...graph, nodes }, [...graph.outputs.keys()])
}

class Rewriting {
  readonly #graph: Graph
  readonly #makers: ReadonlyMap<string, Node>

  constructor(graph: Graph) {
    this.#graph = graph
    this.#makers = new Map(graph.nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)))
  }

  /**
   * The node that joins the heads again, after `Softmax` of queries by keys, times values. Exports scale either both
   * queries and keys by the same root, which is what `MultiHeadAttention` does by itself, or queries before this.
   */
  attention(node: Node): Node | null {
    const product = this.#through(node, 'Reshape', 'Transpose', 'MatMul')
    const scores = product === null ? null : this.#through(this.#made(product.inputs[0]), 'Softmax', 'MatMul')
    if (product === null || scores === null) return null
    const roots = scores.inputs.map((name) => this.#scaled(name))
    const areScaled = roots.every((name) => name !== null)
    const [query, key] = (areScaled ? roots : scores.inputs).map((name) => this.#heads(name))
    const value = this.#heads(product.inputs[1])
    if (!query || !key || !value || query.heads !== key.heads || query.heads !== value.heads) return null
    const heads = wholeAttribute('num_heads', query.heads)
    return {
      op: 'MultiHeadAttention',
      domain: microsoft,
      inputs: [query.from, key.from, value.from],
      outputs: node.outputs,
      attributes: areScaled ? [heads] : [heads, floatAttribute('scale', 1)],
    }
  }

  #made(name: string | null | undefined): Node | null {
    return this.#makers.get(name ?? '') ?? null
  }

  /** Follows first inputs. @param node of the first kind @returns that of the last; null: another is between */
  #through(node: Node | null, op: string, ...rest: readonly string[]): Node | null {
    if (node?.op !== op) return null
    const [next, ...others] = rest
    return next === undefined ? node : this.#through(this.#made(node.inputs[0]), next, ...others)
  }

  /** What is multiplied by a root: of one number, however it was found. */
  #scaled(name: string): string | null {
    const scaling = this.#made(name)
    if (scaling?.op !== 'Mul') return null
    const isRoot = (input: string) => this.#made(input)?.op === 'Sqrt' || this.#constant(input)?.raw?.length === 4
    return scaling.inputs.some(isRoot) ? (scaling.inputs.find((input) => !isRoot(input)) ?? null) : null
  }

  /** `Transpose` of a `Reshape` to [sounds, positions, heads, numbers]. */
  #heads(name: string | null | undefined): { from: string; heads: number } | null {
    const divided = this.#through(this.#made(name), 'Transpose', 'Reshape')
    const [from, shape] = divided?.inputs ?? []
    const heads = this.#whole(shape, 2)
    return from === undefined || heads === null || heads <= 0 ? null : { from, heads }
  }

  /** One number of a shape, which is constant or put together from constants. */
  #whole(shape: string | undefined, place: number): number | null {
    const maker = this.#made(shape)
    if (maker?.op === 'Concat') return this.#whole(maker.inputs[place], 0)
    const found = this.#constant(shape)
    if (found?.type !== elementTypes.int64 || found.raw === null || found.raw.length < 8 * (place + 1)) return null
    return Number(new DataView(found.raw.buffer, found.raw.byteOffset).getBigInt64(8 * place, true))
  }

  #constant(name: string | undefined): Constant | null {
    const maker = this.#made(name)
    return maker?.op === 'Constant' ? tensorIn(maker, 'value') : (this.#graph.constants.get(name ?? '') ?? null)
  }
}
