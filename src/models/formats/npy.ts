/**
 * Reads an array that NumPy saved (`.npy`,
 * https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html): a magic word, a header that looks like a
 * Python dictionary, and the numbers.
 */
import { numbersOf } from './safetensors.ts'
import type { Tensor } from '../../onnx/session.ts'

const kinds: Readonly<Record<string, { type: Tensor['type']; bytes: number }>> = {
  '<f4': { type: 'float32', bytes: 4 },
  '<f2': { type: 'float16', bytes: 2 },
  '<i4': { type: 'int32', bytes: 4 },
  '<i8': { type: 'int64', bytes: 8 },
  '|u1': { type: 'uint8', bytes: 1 },
  '|b1': { type: 'bool', bytes: 1 },
}

/** @throws Error that says what is wrong, without naming the file */
export function readNpy(file: Uint8Array): Tensor {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength)
  const magic = file.length >= 12 ? String.fromCharCode(...file.subarray(0, 6)) : ''
  if (magic !== '\x93NUMPY') throw new Error('it is not an array saved by NumPy')
  // Version 1 has two bytes for the header's length, later ones have four.
  const start = file[6] === 1 ? 10 : 12
  const body = start + (file[6] === 1 ? view.getUint16(8, true) : view.getUint32(8, true))
  const header = new TextDecoder('latin1').decode(file.subarray(start, body))
  const descr = /'descr': *'([^']+)'/.exec(header)?.[1] ?? ''
  const shape = /'shape': *\(([\d, ]*)\)/.exec(header)?.[1]
  const kind = kinds[descr]
  if (kind === undefined) throw new Error(`numbers of type ${JSON.stringify(descr)} are not supported`)
  if (shape === undefined || !header.includes("'fortran_order': False")) throw new Error('its header cannot be parsed')
  const dims = shape.split(',').flatMap((length) => (length.trim() === '' ? [] : [Number(length)]))
  const size = dims.reduce((product, length) => product * length, kind.bytes)
  if (body + size > file.length) throw new Error('some of its numbers are missing')
  return { type: kind.type, dims, data: numbersOf(kind.type, new Uint8Array(file.subarray(body, body + size)).buffer) }
}
