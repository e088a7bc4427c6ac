/**
 * Build step: a built-in graph as ONNX Runtime rewrites it whenever it loads one, so that the executable need not. Of
 * the 90 ms of processor time that hibari's graph takes to load, 55 are that. The level is the highest that is the same
 * on every processor: fused operators, but no layouts. It is written in ONNX Runtime's own format, whose weights are
 * used where they are: 53 to 62 ms become 36 to 41. The numbers are the same to the bit.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withDurations } from '../src/models/hibari/graph-file.ts'
import { ortApi } from '../src/onnx/ffi/api.ts'

/** By name, the built-in files that are graphs for which this pays, and what their architecture makes of each first. */
const prepare: Readonly<Record<string, (model: Uint8Array) => Uint8Array>> = { 'hibari.onnx': withDurations }

/** @returns the file as the executable carries it: as it is, unless it is named above */
export async function carriedFile(name: string, file: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const prepared = prepare[name]?.(file)
  return prepared === undefined ? file : optimised(prepared)
}

/** `ORT_ENABLE_EXTENDED` */
const extended = 2

/** @throws Error in ONNX Runtime's words if it is not a graph */
async function optimised(model: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
  const folder = mkdtempSync(join(tmpdir(), 'myna-graph-'))
  try {
    const path = join(folder, 'optimised.ort')
    write(model, path)
    return await Bun.file(path).bytes()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A session is what writes the file, while it is made. */
function write(model: Uint8Array, path: string): void {
  const api = ortApi()
  const { call, env } = api
  const options = api.made((out) => call.CreateSessionOptions(out))
  try {
    api.check(call.SetIntraOpNumThreads(options, 1))
    api.check(call.SetSessionGraphOptimizationLevel(options, extended))
    api.check(call.SetOptimizedModelFilePath(options, path))
    api.check(call.AddSessionConfigEntry(options, 'session.save_model_format', 'ORT'))
    call.ReleaseSession(api.made((out) => call.CreateSessionFromArray(env, model, model.byteLength, options, out)))
  } finally {
    call.ReleaseSessionOptions(options)
  }
}
