/** A graph's inputs and outputs, as the C API reports them. */
import { CString, type Pointer } from 'bun:ffi'
import type { Port } from '../session.ts'
import type { OrtApi, Status } from './api.ts'
import { shapeOf } from './values.ts'

interface Questions {
  count(session: Pointer, out: BigUint64Array): Status
  name(session: Pointer, index: number, allocator: Pointer, out: BigUint64Array): Status
  type(session: Pointer, index: number, out: BigUint64Array): Status
}

export function portsOf(api: OrtApi, session: Pointer): { inputs: Port[]; outputs: Port[] } {
  const { call } = api
  const inputs = {
    count: call.SessionGetInputCount,
    name: call.SessionGetInputName,
    type: call.SessionGetInputTypeInfo,
  }
  const outputs = {
    count: call.SessionGetOutputCount,
    name: call.SessionGetOutputName,
    type: call.SessionGetOutputTypeInfo,
  }
  return { inputs: ask(api, session, inputs), outputs: ask(api, session, outputs) }
}

const ask = (api: OrtApi, session: Pointer, questions: Questions): Port[] =>
  Array.from({ length: Number(api.told((out) => questions.count(session, out))) }, (_, index) => ({
    name: nameOf(api, session, index, questions),
    ...typeOf(api, session, index, questions),
  }))

function nameOf(api: OrtApi, session: Pointer, index: number, questions: Questions): string {
  const text = api.made((out) => questions.name(session, index, api.allocator, out))
  const name = new CString(text).toString()
  api.check(api.call.AllocatorFree(api.allocator, text))
  return name
}

function typeOf(api: OrtApi, session: Pointer, index: number, questions: Questions): Omit<Port, 'name'> {
  const { call } = api
  const about = api.made((out) => questions.type(session, index, out))
  try {
    // Part of `about`, and given back with it; null for sequences, maps and optional values.
    const info = api.made((out) => call.CastTypeInfoToTensorInfo(about, out))
    if (info === 0) return { type: 'no tensor', dims: [] }
    const { type, dims } = shapeOf(api, info)
    const names = new BigUint64Array(dims.length)
    if (dims.length > 0) api.check(call.GetSymbolicDimensions(info, names, dims.length))
    return { type, dims: dims.map((length, at) => (length >= 0 ? length : textAt(names[at]!))) }
  } finally {
    call.ReleaseTypeInfo(about)
  }
}

const textAt = (address: bigint): string => (address === 0n ? '' : new CString(Number(address) as Pointer).toString())
