/**
 * The graphs of a Whisper model as they are run. On a processor they are not run as published, but with weights in
 * blocks of 8 bits (`onnx/rewrite`). A step of Whisper base's decoder takes 6 ms of processor time; as published it
 * takes 16 with 8 bits and 13 with 32.
 */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { backEnd, createSession } from '../../onnx/back-end.ts'
import { checkContract, type PortSpec } from '../../onnx/contract.ts'
import { discard } from '../../onnx/discard.ts'
import { inHeads } from '../../onnx/rewrite/attention.ts'
import { blockDomain, inBlocks } from '../../onnx/rewrite/block-weights.ts'
import { branchOf } from '../../onnx/rewrite/branches.ts'
import { type Constant, type Model, readModel, writeModel } from '../../onnx/rewrite/graph.ts'
import { scaleQueries } from '../../onnx/rewrite/scales.ts'
import { givenRows, onlyWanted } from '../../onnx/rewrite/tokens.ts'
import type { Session } from '../../onnx/session.ts'
import type { Card } from '../../domain/card.ts'
import type { WhisperConfig } from './config.ts'
import { windowFrames } from './features.ts'
import { TokenRows } from './token-rows.ts'

export const encoderFile = 'encoder_model.onnx'
export const decoderFile = 'decoder_model_merged.onnx'

/** Of a rewritten graph that reads a prompt: places of the tokens whose logits are needed. */
export const wantedInput = 'wanted'
/** Of rewritten decoders: rows of the embedding of the tokens that they read. */
export const rowsInput = 'embedded'

/** A rewritten graph is in memory three times while it is loaded. */
const rewrittenBytesMax = 400e6

export interface WhisperSessions {
  encoder: Session
  /** Reads a prompt. */
  first: Session
  /** Continues from states; may be the same. */
  next: Session
  /** What decoders take in place of a table; null: they have it. */
  rows: TokenRows | null
}

/** @param weights of the model's card @throws Error that names the file that is missing or is another graph */
export async function openSessions(
  filesDir: string,
  config: WhisperConfig,
  threads: number,
  weights: Card['weights'],
): Promise<WhisperSessions> {
  const rewrites = (weights === 'int8' || weights === 'fp32') && !(await backEnd()).isOnCard
  const opened: Session[] = []
  let both: ReturnType<typeof twoDecoders> = null
  const open = async (model: string | Uint8Array) => {
    const session = await createSession(model, { threads })
    opened.push(session)
    if (typeof model !== 'string') discard(model)
    return session
  }
  try {
    const encoder = await open((rewrites && rewrittenEncoder(filesDir)) || join(filesDir, encoderFile))
    checkEncoder(encoder, config)
    both = rewrites ? twoDecoders(filesDir, config) : null
    if (both === null) {
      const decoder = await open(join(filesDir, decoderFile))
      checkDecoder(decoder, config)
      return { encoder, first: decoder, next: decoder, rows: null }
    }
    const first = await open(both.first)
    const next = await open(both.next)
    checkFirst(first, config)
    checkNext(next, config)
    return { encoder, first, next, rows: both.rows }
  } catch (error) {
    for (const session of opened) await session.release()
    both?.rows?.close()
    throw error
  }
}

/** @returns null: it is missing, too large, or no model that can be read; ONNX Runtime says why */
function modelIn(path: string): (Model & { file: Uint8Array }) | null {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0 || size > rewrittenBytesMax) return null
  const file = Bun.mmap(path)
  try {
    return { ...readModel(file), file }
  } catch {
    return null
  }
}

function rewrittenEncoder(filesDir: string): Uint8Array | null {
  const model = modelIn(join(filesDir, encoderFile))
  if (model === null) return null
  const made = new Map<string, Constant>()
  const encoder = rewritten({ ...model, graph: inHeads(model.graph) }, made)
  discardAll(made, model.file)
  return encoder
}

/**
 * What they are made from is given back before either is opened, because ONNX Runtime copies a graph twice then.
 * @returns null: it is not the graph with two branches that this is for
 */
function twoDecoders(
  filesDir: string,
  { layers, vocabulary }: WhisperConfig,
): { first: Uint8Array; next: Uint8Array; rows: TokenRows | null } | null {
  const path = join(filesDir, decoderFile)
  const model = modelIn(path)
  if (model === null) return null
  const states = new Set(stateNames(layers, ['decoder']).map(presentOf))
  const first = branchOf(model, 'else_branch', () => true)
  const next = branchOf(model, 'then_branch', (output) => output === 'logits' || states.has(output))
  const takes = (found: Model | null, names: readonly string[]) =>
    found !== null && [...found.graph.inputs.keys()].every((name) => names.includes(name))
  const past = stateNames(layers).map(pastOf)
  if (first === null || next === null) return null
  if (!takes(first, ['input_ids', 'encoder_hidden_states']) || !takes(next, ['input_ids', ...past])) return null
  const given = [first, next].map(({ graph }) => givenRows(graph, vocabulary, rowsInput))
  const [table] = given.map((one) => one?.table)
  // Both or none, and only what can be found in the file again.
  const takesRows = given.every((one) => one !== null) && table?.raw.buffer === model.file.buffer
  const graphs = [first, next].map(({ graph, rest }, at) => ({ graph: takesRows ? given[at]!.graph : graph, rest }))
  const made = new Map<string, Constant>()
  const decoders = {
    first: rewrittenFirst(graphs[0]!, made),
    next: rewritten(graphs[1]!, made),
    rows: takesRows ? new TokenRows(path, table!.raw.byteOffset - model.file.byteOffset, table!) : null,
  }
  discardAll(made, model.file)
  return decoders
}

function discardAll(made: ReadonlyMap<string, Constant>, file: Uint8Array): void {
  for (const { raw } of made.values()) if (raw !== null) discard(raw)
  discard(file)
}

function rewrittenFirst({ graph, rest }: Model, made: Map<string, Constant>): Uint8Array {
  const whole = scaleQueries(inBlocks(graph, made))
  return writeModel({ graph: onlyWanted(whole, 'logits', wantedInput) ?? whole, rest }, [blockDomain])
}

const rewritten = ({ graph, rest }: Model, made: Map<string, Constant>): Uint8Array =>
  writeModel({ graph: scaleQueries(inBlocks(graph, made)), rest }, [blockDomain])

export type Kind = 'decoder' | 'encoder'

/** `<layer>.<kind>.<part>`, which follows `past_key_values.` in an input and `present.` in an output. */
export const stateNames = (layers: number, kinds: readonly Kind[] = ['decoder', 'encoder']): string[] =>
  Array.from({ length: layers }, (_, layer) =>
    kinds.flatMap((kind) => ['key', 'value'].map((part) => `${layer}.${kind}.${part}`)),
  ).flat()
export const pastOf = (name: string): string => `past_key_values.${name}`
export const presentOf = (name: string): string => `present.${name}`

const floats = ['float32', 'float16'] as const

function checkEncoder(encoder: Session, { bands, width }: WhisperConfig): void {
  checkContract(encoderFile, encoder, {
    inputs: [{ name: 'input_features', type: floats, dims: [null, bands, windowFrames] }],
    outputs: [{ name: 'last_hidden_state', type: floats, dims: [null, null, width] }],
  })
}

function checkDecoder(decoder: Session, config: WhisperConfig): void {
  const isLast: PortSpec = { name: 'use_cache_branch', type: 'bool', dims: [1] }
  const inputs = [tokens, sound(config), ...states(config, pastOf), isLast]
  checkContract(decoderFile, decoder, { inputs, outputs: [logits(config), ...states(config, presentOf)] })
}

function checkFirst(first: Session, config: WhisperConfig): void {
  const outputs = [logits(config), ...states(config, presentOf)]
  const inputs = [tokens, sound(config), ...ofRewritten(first, config)]
  checkContract(decoderFile, first, { inputs, outputs })
}

function checkNext(next: Session, config: WhisperConfig): void {
  const outputs = [logits(config), ...states(config, presentOf, ['decoder'])]
  checkContract(decoderFile, next, {
    inputs: [tokens, ...states(config, pastOf), ...ofRewritten(next, config)],
    outputs,
  })
}

/** Inputs that only rewritten graphs have. */
function ofRewritten({ inputs }: Session, { width }: WhisperConfig): PortSpec[] {
  const all: PortSpec[] = [
    { name: wantedInput, type: 'int64', dims: [null] },
    { name: rowsInput, type: floats, dims: [null, null, width] },
  ]
  return all.filter((port) => inputs.some(({ name }) => name === port.name))
}

const tokens: PortSpec = { name: 'input_ids', type: 'int64', dims: [null, null] }

const sound = ({ width }: WhisperConfig): PortSpec => ({
  name: 'encoder_hidden_states',
  type: floats,
  dims: [null, null, width],
})

const logits = ({ vocabulary }: WhisperConfig): PortSpec => ({
  name: 'logits',
  type: floats,
  dims: [null, null, vocabulary],
})

const states = (
  { layers, heads, headSize }: WhisperConfig,
  nameOf: (state: string) => string,
  kinds?: readonly Kind[],
): PortSpec[] =>
  stateNames(layers, kinds).map((name) => ({ name: nameOf(name), type: floats, dims: [null, heads, null, headSize] }))
