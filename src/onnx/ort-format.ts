/**
 * Reads a graph in ONNX Runtime's own format, as far as its weights and products need it: tables of FlatBuffers
 * (https://flatbuffers.dev/internals), whose fields have numbers. The numbers are those of ONNX Runtime's schema,
 * onnxruntime/core/flatbuffers/schema/ort.fbs (MIT). Addresses are bytes from the start of the file.
 */

/** How a table refers to its fields: 2 bytes each, behind two lengths. */
const vtableHeadBytes = 4
/** Of the fields that are read here: a number, or how far it is to a table, a text or a list. */
const fieldBytes = 4
const mostDepth = 8
const utf8 = new TextDecoder()

const session = { model: 1 } as const
const model = { graph: 7 } as const
const graph = { initializers: 0, values: 1, nodes: 2 } as const
const value = { name: 0, type: 2 } as const
const typeInfo = { tensor: 2 } as const
const tensorType = { element: 0 } as const
const node = { operator: 5, inputs: 8, attributes: 10 } as const
const attribute = { graph: 7 } as const
const tensor = { name: 0, type: 3, data: 4 } as const

/** A graph, or a branch of one. */
export interface OrtGraph {
  /** The graph around it. */
  parent: OrtGraph | null
  weights: ReadonlyMap<string, OrtWeight>
  /** By name, where the number of a value's type is. */
  typesAt: ReadonlyMap<string, number>
  nodes: readonly OrtNode[]
  branches: readonly OrtGraph[]
}

export interface OrtNode {
  operator: string
  /** '' where an input is left out. */
  inputs: readonly string[]
}

export interface OrtWeight {
  type: number
  typeAt: number
  /** In the file's own memory. */
  data: Uint8Array
}

/** @returns null: it is another file, or a damaged one */
export function readOrtGraph(file: Uint8Array): OrtGraph | null {
  if (utf8.decode(file.subarray(4, 8)) !== 'ORTM') return null
  try {
    const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
    const root = new Table({ file, view, leftBytes: 2 * file.length }, 0).pointed(0)
    const found = root.table(session.model)?.table(model.graph)
    return found === undefined || found === null ? null : graphOf(found, null, 0)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

function graphOf(table: Table, parent: OrtGraph | null, depth: number): OrtGraph {
  if (depth > mostDepth) throw new RangeError('the branches are nested too deeply')
  const nodes = table.tables(graph.nodes)
  const branches: OrtGraph[] = []
  const own: OrtGraph = {
    parent,
    weights: new Map(table.tables(graph.initializers).map((one) => [one.text(tensor.name), weightOf(one)])),
    typesAt: new Map(table.tables(graph.values).flatMap(typeAtOf)),
    nodes: nodes.map((one) => ({ operator: one.text(node.operator), inputs: one.texts(node.inputs) })),
    branches,
  }
  for (const one of nodes.flatMap((each) => each.tables(node.attributes))) {
    const branch = one.table(attribute.graph)
    if (branch !== null) branches.push(graphOf(branch, own, depth + 1))
  }
  return own
}

const weightOf = (table: Table): OrtWeight => ({
  type: table.number(tensor.type),
  typeAt: table.placeOf(tensor.type) ?? 0,
  data: table.bytes(tensor.data),
})

function typeAtOf(table: Table): [string, number][] {
  const at = table.table(value.type)?.table(typeInfo.tensor)?.placeOf(tensorType.element) ?? null
  return at === null ? [] : [[table.text(value.name), at]]
}

interface Source {
  file: Uint8Array
  view: DataView
  /** How much more may be read. A list may name the same table many times, and so may that one's lists. */
  leftBytes: number
}

/** What does not lie in the file is a RangeError, and so is what is named again and again. */
class Table {
  readonly #source: Source
  readonly #at: number

  constructor(source: Source, at: number) {
    this.#source = source
    this.#at = at
  }

  /** @returns null: the field has its default value */
  placeOf(field: number): number | null {
    const { file, view } = this.#source
    const vtableAt = this.#at - view.getInt32(this.#at, true)
    const place = vtableHeadBytes + 2 * field
    if (place >= view.getUint16(vtableAt, true)) return null
    const offset = view.getUint16(vtableAt + place, true)
    if (this.#at + offset + fieldBytes > file.length) throw new RangeError('a field lies behind the end of its file')
    return offset === 0 ? null : this.#at + offset
  }

  /** The table to which the four bytes at this address lead. */
  pointed(at: number): Table {
    return new Table(this.#source, this.#follow(at))
  }

  number(field: number): number {
    const at = this.placeOf(field)
    return at === null ? 0 : this.#source.view.getInt32(at, true)
  }

  table(field: number): Table | null {
    const at = this.placeOf(field)
    return at === null ? null : this.pointed(at)
  }

  tables(field: number): Table[] {
    return this.#places(field).map((at) => this.pointed(at))
  }

  text(field: number): string {
    const at = this.placeOf(field)
    return at === null ? '' : this.#textAt(at)
  }

  texts(field: number): string[] {
    return this.#places(field).map((at) => this.#textAt(at))
  }

  bytes(field: number): Uint8Array {
    const at = this.placeOf(field)
    return at === null ? new Uint8Array() : this.#bytesAt(at)
  }

  #places(field: number): number[] {
    const at = this.placeOf(field)
    if (at === null) return []
    const list = this.#follow(at)
    const count = this.#source.view.getUint32(list, true)
    this.#spend(4 * count)
    return Array.from({ length: count }, (_, each) => list + 4 + 4 * each)
  }

  #textAt(at: number): string {
    const bytes = this.#bytesAt(at)
    this.#spend(bytes.length)
    return utf8.decode(bytes)
  }

  #bytesAt(at: number): Uint8Array {
    const { file, view } = this.#source
    const start = this.#follow(at)
    const length = view.getUint32(start, true)
    if (start + 4 + length > file.length) throw new RangeError('bytes are longer than their file')
    return file.subarray(start + 4, start + 4 + length)
  }

  #follow(at: number): number {
    this.#spend(4)
    return at + this.#source.view.getUint32(at, true)
  }

  #spend(bytes: number): void {
    this.#source.leftBytes -= bytes
    if (this.#source.leftBytes < 0) throw new RangeError('more is named than the file has')
  }
}
