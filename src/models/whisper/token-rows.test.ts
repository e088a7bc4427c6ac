import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { elementTypes } from '../../onnx/rewrite/graph.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { TokenRows } from './token-rows.ts'

const at = 3

/** A file in which the table begins at byte 3. */
async function fileOf(table: ArrayBufferView): Promise<string> {
  const path = join(temporaryFolder(), 'table')
  const bytes = new Uint8Array(table.buffer, table.byteOffset, table.byteLength)
  await Bun.write(path, new Uint8Array([...new Uint8Array(at), ...bytes]))
  return path
}

test('rows are those of the tokens, in their order', async () => {
  const path = await fileOf(Float32Array.of(0, 1, 10, 11, 20, 21))
  const rows = new TokenRows(path, at, { rows: 3, width: 2, type: elementTypes.float32, scale: 1, zero: 0 })
  expect(rows.of([[2], [0]])).toEqual({ type: 'float32', dims: [2, 1, 2], data: Float32Array.of(20, 21, 0, 1) })
  expect(rows.of([[1, 1]])).toEqual({ type: 'float32', dims: [1, 2, 2], data: Float32Array.of(10, 11, 10, 11) })
  rows.close()
})

test('numbers of eight bits are restored, signed or not', async () => {
  const path = await fileOf(Uint8Array.of(128, 130, 255, 0))
  const of = (type: number, zero: number) => {
    const rows = new TokenRows(path, at, { rows: 2, width: 2, type, scale: 0.5, zero })
    const { data } = rows.of([[0, 1]])
    rows.close()
    return [...data]
  }
  expect(of(elementTypes.uint8, 128)).toEqual([0, 1, 63.5, -64])
  expect(of(elementTypes.int8, 0)).toEqual([-64, -63, -0.5, 0])
})

test('a token that has no row, a file that ends before it, and a closed file are errors', async () => {
  const path = await fileOf(Float32Array.of(0, 1, 10))
  const rows = new TokenRows(path, at, { rows: 2, width: 2, type: elementTypes.float32, scale: 1, zero: 0 })
  expect(() => rows.of([[2]])).toThrow('row 2 does not exist')
  expect(() => rows.of([[1]])).toThrow('shorter')
  rows.close()
  rows.close()
  expect(() => rows.of([[0]])).toThrow('row 0 does not exist')
})
