/**
 * One graph that decides between two becomes these two. ONNX Runtime prepares weights for its kernels when it loads a
 * graph, but not those that a branch of `If` takes from outside: each run would turn them round again.
 */
import { type Graph, graphIn, type Model, pruned } from './graph.ts'

/** @param isWanted which outputs of the branch to keep @returns null: the graph has no such branch */
export function branchOf(
  { graph, rest }: Model,
  branch: 'then_branch' | 'else_branch',
  isWanted: (output: string) => boolean,
): Model | null {
  const choice = graph.nodes.find(({ op, outputs }) => op === 'If' && outputs.some((name) => graph.outputs.has(name)))
  const inner = choice === undefined ? null : graphIn(choice, branch)
  if (choice === undefined || inner === null) return null
  // A branch names its outputs as it likes: which is which is a matter of order.
  const renamed = [...inner.outputs.keys()].map((name, at) => [name, choice.outputs[at] ?? name] as const)
  const names = renamed
    .filter(([name, outer]) => name !== outer)
    .map(([name, outer]) => ({ op: 'Identity', domain: '', inputs: [name], outputs: [outer], attributes: [] }))
  const whole: Graph = {
    name: graph.name,
    nodes: [...graph.nodes.filter((node) => node !== choice), ...inner.nodes, ...names],
    constants: new Map([...graph.constants, ...inner.constants]),
    inputs: graph.inputs,
    outputs: graph.outputs,
  }
  return { graph: pruned(whole, [...graph.outputs.keys()].filter(isWanted)), rest }
}
