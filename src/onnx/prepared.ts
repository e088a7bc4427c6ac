/**
 * Graphs that a processor runs in another form than they are published in. The rewritten form is kept beside the file
 * that it is made of, in `prepared/`, with its weights in a file of their own: ONNX Runtime maps that file, so loading
 * takes no second copy, and no model is rewritten twice. Where nothing can be written, or too little of the disk would
 * stay free, a graph is rewritten in memory, or run as published if it is too large for that.
 */
import { randomUUID } from 'node:crypto'
import { statSync } from 'node:fs'
import { type FileHandle, mkdir, open, readdir, rename, rm, statfs } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { preparedFolder, reservedDiskBytes } from '../domain/card.ts'
import { createSession } from './back-end.ts'
import { discard } from './discard.ts'
import { type Model, type Place, readModel, writeModel } from './rewrite/graph.ts'
import { type ConstantFile, Made } from './rewrite/made.ts'
import type { Session, SessionOptions } from './session.ts'

/** A graph that is rewritten in memory is there three times while it is loaded. */
const inMemoryBytesMax = 400e6
const newPrefix = '.new-'
/** No preparation takes as long: what is older was left by a process that was killed. */
const abandonedMs = 3_600_000
/** Weights begin at multiples of this, as vector instructions want them. */
const alignment = 64
const weightsFile = 'weights.bin'
const notesFile = 'prepared.json'

/** The graphs that one file becomes, by name, and what else its model needs to know of it. */
export interface Rewritten<Notes> {
  graphs: Readonly<Record<string, Model>>
  notes: Notes
}

/** @returns null: the file is not what this rewrites */
export type Rewrite<Notes> = (model: Model, made: Made, file: Uint8Array) => Rewritten<Notes> | null

export interface Opened<Notes> {
  sessions: Readonly<Record<string, Session>>
  notes: Notes
}

/** @param model path or bytes, by the graph's name */
interface Loadable<Notes> {
  models: Readonly<Record<string, string | Uint8Array>>
  notes: Notes
}

/**
 * @param source path of the published graph
 * @param form what the rewriting is; another one makes the graphs anew
 * @returns null: it is missing, or no graph that can be rewritten; `createSession` says why
 * @throws Error in ONNX Runtime's words
 */
export async function openRewritten<Notes>(
  source: string,
  form: string,
  rewrite: Rewrite<Notes>,
  options: SessionOptions,
): Promise<Opened<Notes> | null> {
  const stat = statSync(source, { throwIfNoEntry: false })
  if (stat === undefined || stat.size === 0) return null
  const stamp = new Bun.CryptoHasher('sha256').update(`${form} ${stat.size} ${stat.mtimeMs}`).digest('hex')
  const folder = join(dirname(source), preparedFolder, `${basename(source, '.onnx')}-${stamp.slice(0, 16)}`)
  const kept = await keptIn<Notes>(folder)
  if (kept !== null) {
    const opened = await sessionsOf(kept, options).catch(() => null)
    if (opened !== null) return opened
  }
  // Damaged since it was written, if it is there: it is made again.
  await rm(folder, { recursive: true, force: true }).catch(() => {})
  const model = modelIn(source)
  if (model === null) return null
  try {
    const loadable = (await onDisk(folder, model, rewrite)) ?? (await inMemory(model, rewrite))
    return loadable === null ? null : await sessionsOf(loadable, options)
  } finally {
    discard(model.file)
  }
}

type MappedModel = Model & { file: Uint8Array; path: string }

function modelIn(path: string): MappedModel | null {
  const file = Bun.mmap(path)
  try {
    return { ...readModel(file), file, path }
  } catch {
    return null
  }
}

async function keptIn<Notes>(folder: string): Promise<Loadable<Notes> | null> {
  try {
    const { graphs, notes } = (await Bun.file(join(folder, notesFile)).json()) as { graphs: string[]; notes: Notes }
    return { models: Object.fromEntries(graphs.map((name) => [name, graphPath(folder, name)])), notes }
  } catch {
    return null
  }
}

const graphPath = (folder: string, name: string): string => join(folder, `${name}.onnx`)

async function sessionsOf<Notes>({ models, notes }: Loadable<Notes>, options: SessionOptions): Promise<Opened<Notes>> {
  const sessions: Record<string, Session> = {}
  try {
    for (const [name, model] of Object.entries(models)) {
      sessions[name] = await createSession(model, options)
      if (typeof model !== 'string') discard(model)
    }
    return { sessions, notes }
  } catch (error) {
    for (const session of Object.values(sessions)) await session.release()
    throw error
  }
}

/** @returns null: it is not to be rewritten, or nothing can be written here, or too little of the disk stays free */
async function onDisk<Notes>(
  folder: string,
  model: MappedModel,
  rewrite: Rewrite<Notes>,
): Promise<Loadable<Notes> | null> {
  const [parent, building] = [dirname(folder), join(dirname(folder), newPrefix + randomUUID())]
  try {
    await mkdir(building, { recursive: true, mode: 0o755 })
    if (!(await writeInto(building, model, rewrite))) return null
    // Another process may have been first.
    await rename(building, folder).catch(() => {})
    await syncFolder(parent)
    await removeOthers(parent, basename(folder))
    return await keptIn(folder)
  } catch (error) {
    if (error instanceof DiskTooFull) {
      const free = `${reservedDiskBytes / 1e6} MB`
      console.error(`the faster form of ${basename(model.path)} is not kept, so that ${free} of the disk stay free`)
    } else if (!isOfFiles(error)) throw error
    return null
  } finally {
    await rm(building, { recursive: true, force: true }).catch(() => {})
  }
}

class DiskTooFull extends Error {}

const isOfFiles = (error: unknown): boolean => error instanceof Error && 'code' in error && 'syscall' in error

/** Everything is on the disk before the folder gets its name. @returns whether the graph is one to rewrite */
async function writeInto<Notes>(folder: string, model: MappedModel, rewrite: Rewrite<Notes>): Promise<boolean> {
  const weights = await WeightsFile.create(join(folder, weightsFile))
  try {
    const made = new Made(weights)
    const rewritten = rewritable(model, made, rewrite)
    if (rewritten === null) return false
    const graphs = Object.entries(rewritten.graphs)
    for (const [, { graph }] of graphs) made.include(graph.constants.values())
    await made.compute()
    await weights.sync()
    for (const [name, one] of graphs) await writeWhole(graphPath(folder, name), writeModel(made.finished(one)))
    const notes = { graphs: graphs.map(([name]) => name), notes: rewritten.notes }
    await writeWhole(join(folder, notesFile), new TextEncoder().encode(JSON.stringify(notes)))
    await syncFolder(folder)
    return true
  } finally {
    await weights.close()
  }
}

/** @returns null: it is not to be rewritten, or its weights are in a file that the new graph would not find */
function rewritable<Notes>(model: MappedModel, made: Made, rewrite: Rewrite<Notes>): Rewritten<Notes> | null {
  const rewritten = rewrite(model, made, model.file)
  const graphs = Object.values(rewritten?.graphs ?? {})
  const isWhole = graphs.every(({ graph }) => [...graph.constants.values()].every(({ isElsewhere }) => !isElsewhere))
  return isWhole ? rewritten : null
}

async function inMemory<Notes>(model: MappedModel, rewrite: Rewrite<Notes>): Promise<Loadable<Notes> | null> {
  if (model.file.length > inMemoryBytesMax) return null
  const made = new Made(null)
  const rewritten = rewritable(model, made, rewrite)
  if (rewritten === null) return null
  await made.compute()
  const models = Object.entries(rewritten.graphs).map(([name, one]) => [name, writeModel(made.finished(one))] as const)
  // What they are made from is given back first, because ONNX Runtime copies a graph twice then.
  made.discard()
  return { models: Object.fromEntries(models), notes: rewritten.notes }
}

/** Those of the same file in another form, or of a file that has changed. */
async function removeOthers(parent: string, name: string): Promise<void> {
  const source = name.slice(0, name.lastIndexOf('-') + 1)
  for (const other of await readdir(parent)) {
    const isAbandoned = other.startsWith(newPrefix) && ageMs(join(parent, other)) > abandonedMs
    const isOlder = other.startsWith(source) && other !== name
    if (isAbandoned || isOlder) await rm(join(parent, other), { recursive: true, force: true })
  }
}

const ageMs = (path: string): number => Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())

class WeightsFile implements ConstantFile {
  readonly #file: FileHandle
  readonly #folder: string
  #length = 0

  private constructor(file: FileHandle, folder: string) {
    this.#file = file
    this.#folder = folder
  }

  static async create(path: string): Promise<WeightsFile> {
    return new WeightsFile(await open(path, 'wx', 0o644), dirname(path))
  }

  /** @throws DiskTooFull if too little would stay free */
  async append(values: Uint8Array): Promise<Place> {
    const { bavail, bsize } = await statfs(this.#folder)
    if (bavail * bsize < reservedDiskBytes + values.length) throw new DiskTooFull()
    const offset = Math.ceil(this.#length / alignment) * alignment
    for (let at = 0; at < values.length;) {
      const { bytesWritten } = await this.#file.write(values, at, values.length - at, offset + at)
      at += bytesWritten
    }
    this.#length = offset + values.length
    return { file: weightsFile, offset, length: values.length }
  }

  sync(): Promise<void> {
    return this.#file.sync()
  }

  close(): Promise<void> {
    return this.#file.close()
  }
}

async function writeWhole(path: string, content: Uint8Array): Promise<void> {
  const file = await open(path, 'wx', 0o644)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder(path: string): Promise<void> {
  const opened = await open(path, 'r')
  try {
    await opened.sync()
  } finally {
    await opened.close()
  }
}
