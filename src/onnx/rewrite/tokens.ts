/**
 * What a graph reads and gives for each token. The last product of Whisper's decoder has as many columns as there are
 * words, and of a long prompt two rows of it are of use; and the table that its words are looked up in need not be in
 * memory.
 */
import { elementTypes, type Graph, type Node, numberIn, pruned, wholeAttribute } from './graph.ts'
import { portOf } from './port.ts'

/**
 * Gives rows of the wanted tokens only.
 * @param output [rows, tokens, columns], a product with constant weights
 * @param input the name of a new one: places of tokens, int64
 * @returns null: the output is made in another way
 */
export function onlyWanted(graph: Graph, output: string, input: string): Graph | null {
  const product = productOf(graph, output)
  const from = product?.inputs[0]
  if (product === null || from === undefined) return null
  const taken = `${from}/${input}`
  const take: Node = {
    op: 'Gather',
    domain: '',
    inputs: [from, input],
    outputs: [taken],
    attributes: [wholeAttribute('axis', 1)],
  }
  const nodes = graph.nodes.flatMap((node) =>
    node === product ? [take, { ...product, inputs: [taken, ...product.inputs.slice(1)] }] : [node],
  )
  return { ...graph, nodes, inputs: new Map([...graph.inputs, [input, portOf(input, elementTypes.int64, [input])]]) }
}

function productOf(graph: Graph, output: string): Node | null {
  const maker = graph.nodes.find(({ outputs }) => outputs.includes(output))
  if (maker?.op === 'Identity') return productOf(graph, maker.inputs[0]!)
  return maker?.op === 'MatMulNBits' ? maker : null
}

/** A table of which each token takes a row. */
export interface RowTable {
  rows: number
  width: number
  /** One of `elementTypes`. */
  type: number
  raw: Uint8Array
  /** A number is (stored number - zero) * scale. */
  scale: number
  zero: number
}

/**
 * The rows of the table become an input [rows, tokens, width]: the table is kept once more for it otherwise, by each
 * graph, and a token reads 2 kB of its 100 MB.
 * @param rows of the table @returns null: the graph has no such table, or stores it in another form
 */
export function givenRows(graph: Graph, rows: number, input: string): { graph: Graph; table: RowTable } | null {
  const take = graph.nodes.find(
    ({ op, inputs, attributes }) =>
      op === 'Gather' && attributes.length === 0 && graph.constants.get(inputs[0]!)?.dims[0] === rows,
  )
  const stored = graph.constants.get(take?.inputs[0] ?? '')
  if (take === undefined || stored === undefined || stored.raw === null || stored.dims.length !== 2) return null
  const restore = graph.nodes.find(({ op, inputs }) => op === 'DequantizeLinear' && inputs[0] === take.outputs[0])
  const isFloat = stored.type === elementTypes.float32
  const last = isFloat ? take : restore
  const scale = isFloat ? 1 : numberIn(graph.constants.get(restore?.inputs[1] ?? ''))
  const zero = isFloat ? 0 : numberIn(graph.constants.get(restore?.inputs[2] ?? ''))
  if (last === undefined || scale === null || zero === null) return null
  const given: Node = { op: 'Identity', domain: '', inputs: [input], outputs: last.outputs, attributes: [] }
  const nodes = graph.nodes.map((node) => (node === last ? given : node))
  const port = portOf(input, elementTypes.float32, ['rows', 'tokens', stored.dims[1]!])
  const whole = { ...graph, nodes, inputs: new Map([...graph.inputs, [input, port]]) }
  const [, width = 0] = stored.dims
  const table = { rows, width, type: stored.type, raw: stored.raw, scale, zero }
  return { graph: pruned(whole, [...graph.outputs.keys()]), table }
}
