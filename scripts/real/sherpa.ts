/** The weights at hand in the files that sherpa-onnx reads, each model in a folder of its own. */
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { cachedFile } from '../../build/cache.ts'
import { cards } from '../../src/catalog/cards.ts'
import { readPieces } from '../../src/models/moonshine/vocabulary.ts'
import { symbolIds } from '../../src/phonemes/symbols.ts'
import { realWeightsRoot } from '../../src/testing/real-weights.ts'
import { ct2Of, exporters, python, run, work } from './weights.ts'

const folderOf = (name: string): string => join(work, 'sherpa', name)

/** The files of Moonshine that are inside Myna. @returns encoder, decoder and tokens */
export async function sherpaMoonshine(): Promise<string[]> {
  const place = folderOf('moonshine')
  const embedded = cards.find(({ id }) => id === 'moonshine-tiny-en')?.embedded ?? []
  for (const file of embedded) await Bun.write(join(place, file.name), await cachedFile(file))
  const pieces = readPieces(await Bun.file(join(place, 'tokenizer.bin')).bytes())
  const lines = pieces.map((piece, at) => `${Buffer.from(piece).toString('base64')} ${at}`)
  await Bun.write(join(place, 'tokens.txt'), `${lines.join('\n')}\n`)
  return ['encoder_model.ort', 'decoder_model_merged.ort', 'tokens.txt'].map((name) => join(place, name))
}

/** Whisper base, exported for it. @returns encoder, decoder and tokens */
export async function sherpaWhisper(kind: 'int8' | 'fp32'): Promise<string[]> {
  const place = folderOf('whisper-base')
  if (!existsSync(join(place, 'tokens.txt'))) {
    await run(python, '-m', 'pip', 'install', '-q', ...exporters)
    mkdirSync(place, { recursive: true })
    await run(python, join(import.meta.dir, 'sherpa-whisper.py'), ct2Of('whisper-base'), place)
  }
  return [`${kind}/encoder.onnx`, `${kind}/decoder.onnx`, 'tokens.txt'].map((name) => join(place, name))
}

/**
 * Kokoro's graph as it is, with notes in the file, and its voices in one file.
 * @returns graph, voices, tokens, and the number of the voice
 */
export async function sherpaKokoro(voice: string): Promise<string[]> {
  const place = folderOf('kokoro')
  const from = join(realWeightsRoot, 'kokoro-82m-q8')
  const names = readdirSync(join(from, 'voices')).toSorted()
  const voices = await Promise.all(names.map((name) => Bun.file(join(from, 'voices', name)).bytes()))
  await Bun.write(join(place, 'voices.bin'), Buffer.concat(voices))
  const tokens = [...symbolIds].map(([symbol, id]) => `${symbol} ${id}\n`)
  await Bun.write(join(place, 'tokens.txt'), tokens.join(''))
  const notes = {
    model_type: 'kokoro',
    sample_rate: '24000',
    version: '2',
    has_espeak: '1',
    voice: 'en-us',
    style_dim: '510,1,256',
    n_speakers: String(names.length),
    speaker_names: names.map((name) => name.replace('.bin', '')).join(','),
  }
  const graph = await Bun.file(join(from, 'model.onnx')).bytes()
  await Bun.write(join(place, 'model.onnx'), Buffer.concat([graph, ...Object.entries(notes).map(note)]))
  const paths = ['model.onnx', 'voices.bin', 'tokens.txt'].map((name) => join(place, name))
  return [...paths, String(names.indexOf(`${voice}.bin`))]
}

/** Protocol Buffers take what is appended as more of the message. Field 14 of a model is its notes: key and value. */
function note([key, value]: [string, string]): Buffer {
  const field = (number: number, content: Buffer) => {
    if (content.length < 0x80) return Buffer.from([number * 8 + 2, content.length, ...content])
    return Buffer.from([number * 8 + 2, (content.length & 0x7f) | 0x80, content.length >> 7, ...content])
  }
  return field(14, Buffer.concat([field(1, Buffer.from(key)), field(2, Buffer.from(value))]))
}
