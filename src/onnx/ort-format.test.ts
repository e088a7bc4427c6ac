/** Files that are made to mislead a reader; real ones are in `signed-weights.test.ts`. */
import { expect, test } from 'bun:test'
import { readOrtGraph } from './ort-format.ts'

/** Writes tables one behind the other, because they can only refer to what comes later. */
class OrtFile {
  readonly #view = new DataView(new ArrayBuffer(10_000))
  #end = 8

  constructor() {
    new Uint8Array(this.#view.buffer).set(new TextEncoder().encode('ORTM'), 4)
  }

  /** @param from addresses that lead to it @returns where each of the fields is */
  table(from: readonly number[], ...fields: number[]): number[] {
    const [vtable, vtableBytes] = [this.#end, 4 + 2 * 12]
    const at = vtable + vtableBytes
    this.#view.setUint16(vtable, vtableBytes, true)
    for (const [index, field] of fields.entries()) this.#view.setUint16(vtable + 4 + 2 * field, 4 + 4 * index, true)
    this.#view.setInt32(at, vtableBytes, true)
    this.#end = at + 4 + 4 * fields.length
    this.#lead(from, at)
    return fields.map((_, index) => at + 4 + 4 * index)
  }

  /** @returns where each of its entries is */
  list(from: readonly number[], count: number): number[] {
    const at = this.#end
    this.#view.setUint32(at, count, true)
    this.#end = at + 4 + 4 * count
    this.#lead(from, at)
    return Array.from({ length: count }, (_, index) => at + 4 + 4 * index)
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.#view.buffer, 0, this.#end)
  }

  #lead(from: readonly number[], at: number): void {
    for (const place of from) this.#view.setUint32(place, at - place, true)
  }
}

const graphField = (file: OrtFile): number[] => file.table(file.table([0], 1), 7)

/** @param times how often each graph names the same branch */
function branching(levels: number, times: number): Uint8Array {
  const file = new OrtFile()
  let from = graphField(file)
  for (let level = 0; level < levels; level++) {
    const nodes = file.list(file.table(from, 2), times)
    from = file.table(file.list(file.table(nodes, 10), 1), 7)
  }
  file.table(from)
  return file.bytes
}

test('branches are read', () => {
  const graph = readOrtGraph(branching(3, 1))
  expect(graph?.branches[0]?.branches[0]?.branches).toHaveLength(1)
})

test('a file of a kilobyte that names the same branch again and again is not followed', () => {
  const file = branching(8, 5)
  expect(file.length).toBeLessThan(1500)
  expect(readOrtGraph(file)).toBe(null)
})

test.each([
  ['in the file', 0, 1],
  ['behind its end', 4000, null],
])('a type that lies %s', (_, further, types) => {
  const file = new OrtFile()
  const values = file.list(file.table(graphField(file), 1), 1)
  const [name, type] = file.table(values, 0, 2)
  const [tensor] = file.table([type!], 2)
  file.table([tensor!], 0)
  file.list([name!], 0)
  const { bytes } = file
  // The last table begins with its distance from its vtable, which says behind two lengths where its field is.
  const place = bytes.lastIndexOf(28) - 28 + 4
  new DataView(bytes.buffer).setUint16(place, 4 + further, true)
  expect(readOrtGraph(bytes)?.typesAt.size ?? null).toBe(types)
})
