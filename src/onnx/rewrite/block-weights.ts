/**
 * Products with constant weights become ONNX Runtime's `MatMulNBits`: 8 bits by blocks of 32, both the weights and what
 * they are multiplied with. Weights that have 8 bits already, as `quantize_dynamic` writes them, stay the same numbers;
 * what they are multiplied with is no longer rounded by the largest number of all of it, which is six times as exact in
 * Whisper's encoder. Weights of 32 bits are rounded here: a third of the memory traffic, and as few word errors.
 */
import { type Constant, constant, elementTypes, type Graph, type Node, pruned, wholeAttribute } from './graph.ts'
import { type BlockWeights, roundedWeights, unsignedWeights } from './weights.ts'

export const blockDomain = 'com.microsoft'
/** What is multiplied is rounded to 8 bits, too. */
const accuracyLevel = 4
const { uint8, int8, float32 } = elementTypes

/** What a node multiplies, and with which weights. */
interface Product {
  from: string
  /** Of the constant that they are made of. */
  name: string
  outputs: number
  inputs: number
  make: () => BlockWeights
}

/** @param made what became of constants in another graph of the same file; more is added to it */
export function inBlocks(graph: Graph, made: Map<string, Constant>): Graph {
  const rewriting = new Rewriting(graph, made)
  const nodes = graph.nodes.map((node) => rewriting.product(node))
  const whole = { ...graph, nodes, constants: new Map([...graph.constants, ...made]) }
  return pruned(whole, [...graph.outputs.keys()])
}

class Rewriting {
  readonly #graph: Graph
  readonly #made: Map<string, Constant>
  readonly #makers: ReadonlyMap<string, Node>

  constructor(graph: Graph, made: Map<string, Constant>) {
    this.#graph = graph
    this.#made = made
    this.#makers = new Map(graph.nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)))
  }

  /** The node that ends a product is replaced; what came before it is no longer needed. */
  product(node: Node): Node {
    const found = this.#plain(node) ?? this.#rounded(node) ?? this.#restored(node)
    if (found === null) return node
    const { from, name, inputs, outputs } = found
    if (!this.#made.has(blocksOf(name))) this.#keep(name, found.make())
    const whole = (attribute: string, value: number) => wholeAttribute(attribute, value)
    const zeros = this.#made.has(zerosOf(name)) ? [zerosOf(name)] : []
    const [, , blockSize = 0] = this.#made.get(blocksOf(name))?.dims ?? []
    return {
      op: 'MatMulNBits',
      domain: blockDomain,
      inputs: [from, blocksOf(name), scalesOf(name), ...zeros],
      outputs: node.outputs,
      attributes: [
        whole('K', inputs),
        whole('N', outputs),
        whole('bits', 8),
        whole('block_size', blockSize),
        whole('accuracy_level', accuracyLevel),
      ],
    }
  }

  #keep(name: string, { blocks, scales, zero, dims }: BlockWeights): void {
    const [outputs = 0, count = 0] = dims
    this.#keepConstant(blocksOf(name), uint8, dims, blocks)
    this.#keepConstant(scalesOf(name), float32, [outputs, count], scales)
    // 128 is what there is without them.
    if (zero !== 128)
      this.#keepConstant(zerosOf(name), uint8, [outputs, count], new Uint8Array(outputs * count).fill(zero))
  }

  #keepConstant(name: string, type: number, dims: readonly number[], values: ArrayBufferView): void {
    const raw = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
    this.#made.set(name, constant(name, type, dims, raw))
  }

  /** `MatMul` with weights of 32 bits, which stand as [inputs, outputs], or are turned round to stand so. */
  #plain(node: Node): Product | null {
    const [from, weights] = node.inputs
    if (node.op !== 'MatMul' || from === undefined || weights === undefined) return null
    const turning = this.#makers.get(weights)
    const name = turning?.op === 'Transpose' ? turning.inputs[0] : weights
    const given = this.#graph.constants.get(name ?? '')
    if (given === undefined || given.raw === null || given.type !== float32 || given.dims.length !== 2) return null
    const [first, second] = given.dims as [number, number]
    const { raw } = given
    const [outputs, inputs] = turning === undefined ? [second, first] : [first, second]
    const make = () => roundedWeights(raw, outputs, inputs, turning === undefined)
    return { from, name: given.name, outputs, inputs, make }
  }

  /** `DynamicQuantizeLinear`, `MatMulInteger`, `Cast`, and at the end `Mul` by the product of both scales. */
  #rounded(node: Node): Product | null {
    if (node.op !== 'Mul') return null
    const cast = this.#inputOf(node, 'Cast')
    const scales = this.#inputOf(node, 'Mul')
    const product = cast === null ? null : this.#inputOf(cast, 'MatMulInteger')
    const rounding = product === null ? null : this.#inputOf(product, 'DynamicQuantizeLinear')
    const from = rounding?.inputs[0]
    if (product === null || scales === null || from === undefined) return null
    const scale = scales.inputs.find((name) => this.#graph.constants.has(name))
    return this.#ofBytes(from, [product.inputs[1], scale, product.inputs[3]], true)
  }

  /** `Transpose` of weights, `DequantizeLinear`, `MatMul`: the embedding of all tokens, used once more at the end. */
  #restored(node: Node): Product | null {
    const [from, restored] = node.inputs
    const restoring = this.#makers.get(restored ?? '')
    if (node.op !== 'MatMul' || from === undefined || restoring?.op !== 'DequantizeLinear') return null
    const turning = this.#makers.get(restoring.inputs[0] ?? '')
    if (turning?.op !== 'Transpose') return null
    return this.#ofBytes(from, [turning.inputs[0], restoring.inputs[1], restoring.inputs[2]], false)
  }

  #inputOf(node: Node, op: string): Node | null {
    const makers = node.inputs.map((name) => this.#makers.get(name))
    return makers.find((maker) => maker?.op === op) ?? null
  }

  /** @param turned they stand as [inputs, outputs] @returns null: they are not what this is for */
  #ofBytes(
    from: string,
    [name, scaleName, zeroName]: readonly (string | undefined)[],
    turned: boolean,
  ): Product | null {
    const given = this.#graph.constants.get(name ?? '')
    const scale = this.#float(scaleName)
    const zero = zeroName === undefined ? 0 : this.#byte(zeroName)
    if (given === undefined || given.raw === null || given.dims.length !== 2) return null
    if (scale === null || zero === null || (given.type !== uint8 && given.type !== int8)) return null
    const [first, second] = given.dims as [number, number]
    const [outputs, inputs] = turned ? [second, first] : [first, second]
    const { raw, type } = given
    const make = () => unsignedWeights({ raw, outputs, inputs, turned, scale, zero, isSigned: type === int8 })
    return { from, name: given.name, outputs, inputs, make }
  }

  #float(name: string | undefined): number | null {
    const found = this.#graph.constants.get(name ?? '')
    if (found?.raw?.length !== 4 || found.type !== float32) return null
    return new DataView(found.raw.buffer, found.raw.byteOffset).getFloat32(0, true)
  }

  #byte(name: string): number | null {
    const found = this.#graph.constants.get(name)
    if (found?.raw?.length !== 1) return null
    return found.type === int8 ? (found.raw[0]! << 24) >> 24 : found.raw[0]!
  }
}

const blocksOf = (name: string): string => `${name}/blocks`
const scalesOf = (name: string): string => `${name}/scales`
const zerosOf = (name: string): string => `${name}/zeros`
