/**
 * Products with constant weights, as exports write them: with weights of 32 bits, or of 8 bits as `quantize_dynamic`
 * leaves them. `block-products.ts` and `row-products.ts` replace them with faster ones.
 */
import { type Constant, elementTypes, type Graph, type Node, numberIn } from './graph.ts'

const { uint8, int8, float32 } = elementTypes

/** Numbers of 32 bits. */
interface FloatWeights {
  raw: Uint8Array
  /** They are stored as [inputs, outputs]; else as [outputs, inputs]. */
  turned: boolean
  bytes: null
}

/** A number is (stored byte - zero) * scale. */
interface ByteWeights {
  raw: Uint8Array
  turned: boolean
  bytes: { scale: number; zero: number; isSigned: boolean }
}

/** What a node multiplies, and with which weights. */
export interface Product {
  /** What is multiplied, of 32 bits. */
  from: string
  /** Of the constant that holds the weights. */
  name: string
  inputs: number
  outputs: number
  weights: FloatWeights | ByteWeights
}

export class Products {
  readonly #constants: ReadonlyMap<string, Constant>
  readonly #makers: ReadonlyMap<string, Node>

  constructor({ constants, nodes }: Graph) {
    this.#constants = constants
    this.#makers = new Map(nodes.flatMap((node) => node.outputs.map((name) => [name, node] as const)))
  }

  /** The product that this node ends; null: it ends none. What comes before it in the product is then not needed. */
  endedBy(node: Node): Product | null {
    return this.#plain(node) ?? this.#rounded(node) ?? this.#restored(node)
  }

  /** `MatMul` with weights of 32 bits, as they are stored or transposed. */
  #plain(node: Node): Product | null {
    const [from, weights] = node.inputs
    if (node.op !== 'MatMul' || from === undefined || weights === undefined) return null
    const turning = this.#makers.get(weights)
    const name = turning?.op === 'Transpose' ? turning.inputs[0] : weights
    const given = this.#constants.get(name ?? '')
    if (given === undefined || given.raw === null || given.type !== float32 || given.dims.length !== 2) return null
    const turned = turning === undefined
    return { from, name: given.name, ...shapeOf(given, turned), weights: { raw: given.raw, turned, bytes: null } }
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
    const scale = scales.inputs.find((name) => this.#constants.has(name))
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

  /** @returns null: they are not what this is for */
  #ofBytes(
    from: string,
    [name, scaleName, zeroName]: readonly (string | undefined)[],
    turned: boolean,
  ): Product | null {
    const given = this.#constants.get(name ?? '')
    const scale = numberIn(this.#constants.get(scaleName ?? ''))
    const zero = zeroName === undefined ? 0 : numberIn(this.#constants.get(zeroName))
    if (given === undefined || given.raw === null || given.dims.length !== 2) return null
    if (scale === null || zero === null || (given.type !== uint8 && given.type !== int8)) return null
    const bytes = { scale, zero, isSigned: given.type === int8 }
    return { from, name: given.name, ...shapeOf(given, turned), weights: { raw: given.raw, turned, bytes } }
  }
}

function shapeOf({ dims }: Constant, turned: boolean): { inputs: number; outputs: number } {
  const [first = 0, second = 0] = dims
  return turned ? { inputs: first, outputs: second } : { inputs: second, outputs: first }
}
