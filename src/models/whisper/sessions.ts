/**
 * The graphs of a Whisper model as they are run. On a processor they are not run as published (`onnx/rewrite`). The
 * encoder multiplies many rows at once: bytes, row by row. The decoder takes a token at a time: weights in blocks of 8
 * bits. A step of Whisper base's decoder takes 6 ms of processor time; as published it takes 16 with 8 bits and 13 with
 * 32.
 */
import { join } from 'node:path'
import { backEnd, createSession } from '../../onnx/back-end.ts'
import { checkContract, type PortSpec } from '../../onnx/contract.ts'
import { multipliesBytesExactly } from '../../onnx/exact-bytes.ts'
import { openRewritten, type Rewrite } from '../../onnx/prepared.ts'
import { inHeads } from '../../onnx/rewrite/attention.ts'
import { inBlocks } from '../../onnx/rewrite/block-products.ts'
import { branchOf } from '../../onnx/rewrite/branches.ts'
import type { Model } from '../../onnx/rewrite/graph.ts'
import type { Made } from '../../onnx/rewrite/made.ts'
import { inRows } from '../../onnx/rewrite/row-products.ts'
import { scaleQueries } from '../../onnx/rewrite/scales.ts'
import { givenRows, onlyWanted, type RowTable } from '../../onnx/rewrite/tokens.ts'
import type { Session } from '../../onnx/session.ts'
import type { Card } from '../../domain/card.ts'
import type { WhisperConfig } from './config.ts'
import { windowFrames } from './features.ts'
import { TokenRows } from './token-rows.ts'

export const encoderFile = 'encoder_model.onnx'
export const decoderFile = 'decoder_model_merged.onnx'

/** Changes whenever graphs are rewritten in another way: those kept in the old one are made again. */
const form = 'whisper 1'

/** Of a rewritten graph that reads a prompt: places of the tokens whose logits are needed. */
export const wantedInput = 'wanted'
/** Of rewritten decoders: rows of the embedding of the tokens that they read. */
export const rowsInput = 'embedded'

/** What the encoder gives, as decoders call it. */
const encoded = 'encoder_hidden_states'

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
  const way = rewrites ? { filesDir, threads, usesBytes: await multipliesBytesExactly() } : null
  const opened: Session[] = []
  let rows: TokenRows | null = null
  try {
    const encoder =
      (way && (await rewrittenEncoder(way))) ?? (await createSession(join(filesDir, encoderFile), { threads }))
    opened.push(encoder)
    checkEncoder(encoder, config)
    const both = way && (await twoDecoders(way, config))
    if (both === null) {
      const decoder = await createSession(join(filesDir, decoderFile), { threads })
      opened.push(decoder)
      checkDecoder(decoder, config)
      return { encoder, first: decoder, next: decoder, rows: null }
    }
    const { first, next, table } = both
    opened.push(first, next)
    rows = table === null ? null : new TokenRows(join(filesDir, decoderFile), table.offset, table)
    checkFirst(first, config)
    checkNext(next, config)
    return { encoder, first, next, rows }
  } catch (error) {
    for (const session of opened) await session.release()
    rows?.close()
    throw error
  }
}

interface Way {
  filesDir: string
  threads: number
  /** This processor multiplies bytes exactly, so many rows at once are bytes. */
  usesBytes: boolean
}

const formOf = ({ usesBytes }: Way): string => `${form} ${usesBytes ? 'bytes' : 'blocks'}`

async function rewrittenEncoder(way: Way): Promise<Session | null> {
  const rewrite: Rewrite<null> = (model, made) => {
    const heads = { ...model, graph: inHeads(model.graph) }
    const bytes = way.usesBytes ? inRows(heads, made) : heads
    return { graphs: { encoder: rest(bytes, made) }, notes: null }
  }
  const path = join(way.filesDir, encoderFile)
  return (await openRewritten(path, formOf(way), rewrite, { threads: way.threads }))?.sessions['encoder'] ?? null
}

/** Where the table of tokens is in the decoder's file. */
type Table = Omit<RowTable, 'raw'> & { offset: number }

/** @returns null: it is not the graph with two branches that this is for */
async function twoDecoders(
  way: Way,
  config: WhisperConfig,
): Promise<{ first: Session; next: Session; table: Table | null } | null> {
  const rewrite: Rewrite<Table | null> = (model, made, file) => {
    const branches = branchesOf(model, config)
    if (branches === null) return null
    const given = branches.map(({ graph }) => givenRows(graph, config.vocabulary, rowsInput))
    const [found] = given.map((one) => one?.table)
    // Both or none, and only what can be found in the file again.
    const takesRows = given.every((one) => one !== null) && found?.raw.buffer === file.buffer
    const [first, next] = branches.map((branch, at) => (takesRows ? { ...branch, graph: given[at]!.graph } : branch))
    const graphs = { first: rewrittenFirst(first!, made, way.usesBytes), next: rest(next!, made) }
    return { graphs, notes: takesRows ? tableOf(found!, file) : null }
  }
  const opened = await openRewritten(join(way.filesDir, decoderFile), formOf(way), rewrite, { threads: way.threads })
  const { first, next } = opened?.sessions ?? {}
  return first === undefined || next === undefined ? null : { first, next, table: opened!.notes }
}

const tableOf = ({ raw, ...table }: RowTable, file: Uint8Array): Table => ({
  ...table,
  offset: raw.byteOffset - file.byteOffset,
})

/** The branch that reads a prompt and the one that continues. */
function branchesOf(model: Model, { layers }: WhisperConfig): [Model, Model] | null {
  const states = new Set(stateNames(layers, ['decoder']).map(presentOf))
  const first = branchOf(model, 'else_branch', () => true)
  const next = branchOf(model, 'then_branch', (output) => output === 'logits' || states.has(output))
  const takes = (found: Model, names: readonly string[]) =>
    [...found.graph.inputs.keys()].every((name) => names.includes(name))
  const past = stateNames(layers).map(pastOf)
  if (first === null || next === null) return null
  return takes(first, ['input_ids', encoded]) && takes(next, ['input_ids', ...past]) ? [first, next] : null
}

/** What it keeps of the sound are products of all its rows. */
function rewrittenFirst(model: Model, made: Made, usesBytes: boolean): Model {
  const whole = rest(usesBytes ? inRows(model, made, (from) => from === encoded) : model, made)
  return { ...whole, graph: onlyWanted(whole.graph, 'logits', wantedInput) ?? whole.graph }
}

/** What is not in bytes is in blocks. */
const rest = (model: Model, made: Made): Model => ({ ...model, graph: scaleQueries(inBlocks(model.graph, made)) })

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
