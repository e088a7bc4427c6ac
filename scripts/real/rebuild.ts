/**
 * Rebuilds the 8-bit graphs of a published Whisper from the weights that a package ships for CTranslate2 and from the
 * rest of the exported files that `skeleton.py` kept: byte for byte, in seconds, without torch and 3 GB of its
 * libraries.
 */
import { join } from 'node:path'

interface Insert {
  /** In the skeleton. */
  at: number
  variable: string
  /** The variable is cut into this many parts along its first dimension, and this is one of them. */
  parts: number
  part: number
  /** Rows are columns. */
  turned: boolean
  /** For eight bits; absent: float32. */
  scale?: number
  zero?: number
  signed?: boolean
}

interface Recipe {
  graphs: Record<string, { sha256: string; inserts: Insert[] }>
  files: Record<string, object>
}

interface Variable {
  dims: number[]
  values: Float32Array
}

const half = 4
const lastTimestamp = 1500

/**
 * @param ct2 folder with `model.bin` and `tokenizer.json` @param skeletons folder @param place of the finished model
 * @throws Error when a graph differs from the original
 */
export async function rebuild(ct2: string, skeletons: string, place: string): Promise<void> {
  const unpacked = async (name: string) => Bun.gunzipSync(await Bun.file(join(skeletons, name)).bytes())
  const recipe = JSON.parse(new TextDecoder().decode(await unpacked('recipe.json.gz'))) as Recipe
  const variables = readVariables(await Bun.file(join(ct2, 'model.bin')).bytes())
  for (const [name, { sha256, inserts }] of Object.entries(recipe.graphs)) {
    const graph = filled(await unpacked(`${name}.skeleton.gz`), inserts, variables)
    const found = new Bun.CryptoHasher('sha256').update(graph).digest('hex')
    if (found !== sha256) throw new Error(`${name} was rebuilt as ${found} instead of ${sha256}`)
    await Bun.write(join(place, name), graph)
  }
  for (const [name, content] of Object.entries(recipe.files)) {
    await Bun.write(join(place, name), JSON.stringify(content))
  }
  const tokenizer = (await Bun.file(join(ct2, 'tokenizer.json')).json()) as Tokenizer
  await Bun.write(join(place, 'tokenizer.json'), JSON.stringify(withTimestamps(tokenizer)))
}

function filled(skeleton: Uint8Array, inserts: readonly Insert[], variables: ReadonlyMap<string, Variable>): Buffer {
  const pieces: Uint8Array[] = []
  let done = 0
  for (const insert of inserts) {
    const variable = variables.get(insert.variable)
    if (variable === undefined) throw new Error(`model.bin has no ${insert.variable}`)
    pieces.push(skeleton.subarray(done, insert.at), bytesOf(viewOf(variable, insert), insert))
    done = insert.at
  }
  return Buffer.concat([...pieces, skeleton.subarray(done)])
}

function viewOf({ dims, values }: Variable, { parts, part, turned }: Insert): Float32Array {
  const size = values.length / parts
  const rows = dims[0]! / parts
  const own = values.subarray(part * size, (part + 1) * size)
  if (!turned) return own
  const columns = size / rows
  return Float32Array.from({ length: size }, (_, at) => own[(at % rows) * columns + Math.floor(at / rows)]!)
}

/** Rounds like numpy: halves to the even number. */
function bytesOf(values: Float32Array, { scale, zero = 0, signed }: Insert): Uint8Array {
  if (scale === undefined) return new Uint8Array(values.slice().buffer)
  const [least, most] = signed === true ? [-128, 127] : [0, 255]
  const bytes = new Uint8Array(values.length)
  for (const [at, value] of values.entries()) {
    const exact = Math.fround(value / scale)
    const below = Math.floor(exact)
    const isUp = exact - below > 0.5 || (exact - below === 0.5 && below % 2 !== 0)
    bytes[at] = Math.min(most, Math.max(least, below + (isUp ? 1 : 0) + zero))
  }
  return bytes
}

/** By name: rank, dimensions, type, size in bytes, content; after four numbers and names of the file itself. */
function readVariables(bytes: Uint8Array): Map<string, Variable> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let at = 0
  const whole = (size: 1 | 2 | 4): number => {
    at += size
    return size === 1 ? view.getUint8(at - 1) : size === 2 ? view.getUint16(at - 2, true) : view.getUint32(at - 4, true)
  }
  const text = (): string => {
    const length = whole(2)
    at += length
    // Strings end in a zero byte.
    return new TextDecoder().decode(bytes.subarray(at - length, at - 1))
  }
  whole(4)
  text()
  whole(4)
  const found = new Map<string, Variable>()
  for (let count = whole(4); count > 0; count--) {
    const name = text()
    const dims = Array.from({ length: whole(1) }, () => whole(4))
    const type = whole(1)
    const length = whole(4)
    const content = bytes.slice(at, at + length)
    at += length
    if (type === half) found.set(name, { dims, values: Float32Array.from(new Float16Array(content.buffer)) })
  }
  return found
}

interface Tokenizer {
  added_tokens: { id: number; content: string; special: boolean }[]
}

/** Packages omit the timestamp tokens, which the hub's files have. */
function withTimestamps(tokenizer: Tokenizer): Tokenizer {
  const model = tokenizer.added_tokens.find(({ content }) => content === '<|notimestamps|>')
  if (model === undefined || tokenizer.added_tokens.some(({ content }) => content === '<|0.00|>')) return tokenizer
  const times = Array.from({ length: lastTimestamp + 1 }, (_, at) => ({
    ...model,
    id: model.id + 1 + at,
    content: `<|${(at * 0.02).toFixed(2)}|>`,
    special: false,
  }))
  return { ...tokenizer, added_tokens: [...tokenizer.added_tokens, ...times] }
}
