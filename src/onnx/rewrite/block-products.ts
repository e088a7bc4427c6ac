/**
 * Products with constant weights become ONNX Runtime's `MatMulNBits`: 8 bits by blocks of 32, both the weights and what
 * they are multiplied with. Weights that have 8 bits already stay the same numbers; those of 32 bits are rounded. This
 * is for one token or a few, where such a product takes as long as reading its weights.
 */
import { elementTypes, type Graph, microsoft, type Node, pruned, wholeAttribute } from './graph.ts'
import type { Made } from './made.ts'
import { type Product, Products } from './products.ts'
import { blocksOf, blockSize, roundedBlocks, unsignedBlocks, zeroByte } from './block-weights.ts'

/** What is multiplied is rounded to 8 bits, too. */
const accuracyLevel = 4
const { uint8, float32 } = elementTypes

export function inBlocks(graph: Graph, made: Made): Graph {
  const products = new Products(graph)
  const nodes = graph.nodes.map((node) => {
    const product = products.endedBy(node)
    return product === null ? node : productInBlocks(product, node.outputs, made)
  })
  const whole = { ...graph, nodes, constants: new Map([...graph.constants, ...made.declared]) }
  return pruned(whole, [...graph.outputs.keys()])
}

function productInBlocks(product: Product, given: readonly string[], made: Made): Node {
  const { from, name, inputs, outputs } = product
  const named = { blocks: `${name}/blocks`, scales: `${name}/scales`, zeros: `${name}/zeros` }
  if (!made.declared.has(named.blocks)) declare(product, named, made)
  const whole = (attribute: string, value: number) => wholeAttribute(attribute, value)
  return {
    op: 'MatMulNBits',
    domain: microsoft,
    inputs: [from, named.blocks, named.scales, ...(made.declared.has(named.zeros) ? [named.zeros] : [])],
    outputs: given,
    attributes: [
      whole('K', inputs),
      whole('N', outputs),
      whole('bits', 8),
      whole('block_size', blockSize),
      whole('accuracy_level', accuracyLevel),
    ],
  }
}

interface Names {
  blocks: string
  scales: string
  zeros: string
}

function declare({ inputs, outputs, weights }: Product, { blocks, scales, zeros }: Names, made: Made): void {
  const count = blocksOf(inputs)
  const { raw, turned, bytes } = weights
  made.declare(
    [
      { name: blocks, type: uint8, dims: [outputs, count, blockSize] },
      { name: scales, type: float32, dims: [outputs, count] },
    ],
    () => {
      const found =
        bytes === null
          ? roundedBlocks(raw, outputs, inputs, turned)
          : unsignedBlocks({ raw, outputs, inputs, turned, ...bytes })
      return [found.blocks, found.scales]
    },
  )
  const zero = zeroByte(bytes)
  // Without them, the operator takes 128.
  if (zero === 128) return
  made.declare([{ name: zeros, type: uint8, dims: [outputs, count] }], () => {
    return [new Uint8Array(outputs * count).fill(zero)]
  })
}
