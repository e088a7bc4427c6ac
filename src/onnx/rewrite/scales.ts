/**
 * Attention as exported scales queries and keys by the root of the same number each. Here queries are scaled by both:
 * they are a few numbers, while the keys are those of the whole sound, and were copied twice for it at every token.
 * What is left, keys turned round before a product, ONNX Runtime does within the product.
 */
import { type Graph, type Node, pruned } from './graph.ts'

export function scaleQueries(graph: Graph): Graph {
  const makers = new Map(graph.nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)))
  const uses = new Map<string, number>()
  for (const name of graph.nodes.flatMap(({ inputs }) => inputs)) uses.set(name, (uses.get(name) ?? 0) + 1)
  const nodes = graph.nodes.flatMap((node): Node[] => {
    const [query, keys] = node.inputs
    if (node.op !== 'MatMul' || query === undefined || keys === undefined || uses.get(keys) !== 1) return [node]
    const scaled = makers.get(keys)
    if (scaled?.op !== 'Mul') return [node]
    const turned = scaled.inputs.find((name) => makers.get(name)?.op === 'Transpose')
    // A root of one number, however it was found.
    const scale = scaled.inputs.find((name) => makers.get(name)?.op === 'Sqrt')
    if (turned === undefined || scale === undefined) return [node]
    const both = `${node.outputs[0]}/query`
    return [
      { op: 'Mul', domain: '', inputs: [query, scale], outputs: [both], attributes: [] },
      { ...node, inputs: [both, turned] },
    ]
  })
  return pruned({ ...graph, nodes }, [...graph.outputs.keys()])
}
