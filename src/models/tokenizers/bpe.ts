/**
 * The tokenizer of GPT-2 and its descendants, Whisper among them: byte-pair encoding over bytes (Sennrich, Haddow and
 * Birch, "Neural Machine Translation of Rare Words with Subword Units", 2016), read from a `tokenizer.json` of the
 * `tokenizers` library. Every byte is a token of its own, so that any text can be written; a token may be part of a
 * character.
 */
import { Tokenizer } from '@huggingface/tokenizers'

export class ByteLevelBpe {
  /** By id: the bytes of each token; those of an added token are its name's. */
  readonly #bytes: readonly (Uint8Array | undefined)[]
  readonly #added: ReadonlyMap<string, number>
  readonly #tokenizer: Tokenizer

  /** @throws Error when the file describes another kind of tokenizer, or contradicts itself */
  constructor(file: unknown) {
    const { vocabulary, merges, added } = readTokenizerFile(file)
    const bytes: Uint8Array[] = []
    for (const [token, id] of vocabulary) bytes[id] = bytesOfToken(token)
    for (const [token, id] of added) bytes[id] = new TextEncoder().encode(token)
    const idOf = (token: string): number => {
      const id = vocabulary.get(token)
      if (id === undefined) throw new Error(`tokenizer.json: a merge makes or takes ${token}, which is not a token`)
      return id
    }
    for (const char of charOfByte) idOf(char)
    for (const [left, right] of merges) for (const token of [left, right, left + right]) idOf(token)
    this.#bytes = bytes
    this.#added = added
    this.#tokenizer = textTokenizer(vocabulary, merges)
  }

  /** One above the highest id. */
  get size(): number {
    return this.#bytes.length
  }

  /** The tokens that are not text, by name. */
  get added(): ReadonlyMap<string, number> {
    return this.#added
  }

  /** Names of added tokens in the text are text: they cannot be dictated to a model. */
  encode(text: string): number[] {
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids
  }

  /** Bytes that are not text, such as incomplete characters, become U+FFFD. */
  decode(ids: readonly number[]): string {
    const parts = ids.map((id) => {
      const bytes = this.#bytes[id]
      if (bytes === undefined) throw new RangeError(`there is no token ${id}`)
      return bytes
    })
    return new TextDecoder('utf-8', { ignoreBOM: true }).decode(Buffer.concat(parts))
  }
}

/** Knows no added tokens: a library that does would turn `<|endoftext|>` in a user's text into the control token. */
function textTokenizer(vocabulary: ReadonlyMap<string, number>, merges: readonly Merge[]): Tokenizer {
  const splitter = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }
  const model = { type: 'BPE', vocab: Object.fromEntries(vocabulary), merges }
  const nothing = { normalizer: null, post_processor: null, decoder: null }
  return new Tokenizer({ version: '1.0', added_tokens: [], pre_tokenizer: splitter, model, ...nothing }, {})
}

/**
 * How the file writes bytes: those that Latin-1 prints as themselves, the others as letters from U+0100 on, so that no
 * token contains a space or a control character (openai/gpt-2, `encoder.py`).
 */
const charOfByte: readonly string[] = (() => {
  const isPrintable = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff)
  let others = 0
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(isPrintable(byte) ? byte : 0x100 + others++))
})()
const byteOfChar: ReadonlyMap<string, number> = new Map(charOfByte.map((char, byte) => [char, byte]))

function bytesOfToken(token: string): Uint8Array {
  return Uint8Array.from(token, (char) => {
    const byte = byteOfChar.get(char)
    if (byte === undefined) throw new Error(`tokenizer.json: the token ${token} is not made of bytes`)
    return byte
  })
}

type Merge = readonly [string, string]

interface TokenizerFile {
  vocabulary: ReadonlyMap<string, number>
  merges: readonly Merge[]
  added: ReadonlyMap<string, number>
}

function readTokenizerFile(file: unknown): TokenizerFile {
  const { model, pre_tokenizer: splitter, normalizer, added_tokens: added } = record(file, 'tokenizer.json')
  const { type, vocab, merges } = record(model, 'tokenizer.json: model')
  if (type !== 'BPE' || record(splitter, 'tokenizer.json: pre_tokenizer')['type'] !== 'ByteLevel') {
    throw new Error('tokenizer.json: only byte-level BPE is supported')
  }
  if ((normalizer ?? null) !== null) throw new Error('tokenizer.json: normalizers are not supported')
  return {
    vocabulary: new Map(Object.entries(record(vocab, 'vocab')).map(([token, id]) => [token, checkedId(id)])),
    merges: list(merges, 'merges').map(pairOf),
    added: new Map(list(added ?? [], 'added_tokens').map(addedToken)),
  }
}

/** Written `"a b"`, or `["a", "b"]` by later versions of the library. */
function pairOf(merge: unknown): Merge {
  const [left, right, more] = typeof merge === 'string' ? merge.split(' ') : list(merge, 'merges')
  if (typeof left !== 'string' || typeof right !== 'string' || more !== undefined) {
    throw new Error('tokenizer.json: a merge does not have two tokens')
  }
  return [left, right]
}

function addedToken(entry: unknown): [string, number] {
  const { content, id } = record(entry, 'tokenizer.json: added_tokens')
  if (typeof content !== 'string') throw new Error('tokenizer.json: an added token has no content')
  return [content, checkedId(id)]
}

function checkedId(id: unknown): number {
  if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0 && id < 2 ** 20) return id
  throw new Error(`tokenizer.json: ${String(id)} is not a token id`)
}

function record(value: unknown, what: string): Record<string, unknown> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new Error(`${what} is not an object`)
}

function list(value: unknown, what: string): readonly unknown[] {
  if (Array.isArray(value)) return value
  throw new Error(`tokenizer.json: ${what} is not a list`)
}
