/** A folder with a small model of random weights in it, as a pull would leave it; made by golden-whisper-decode.ts. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Card } from '../../domain/card.ts'

const golden = join(import.meta.dir, 'golden')

const unpacked = async (path: string): Promise<Uint8Array<ArrayBuffer>> => Bun.gunzipSync(await Bun.file(path).bytes())

/** A file of the golden numbers. */
export async function readGolden<T>(path: string): Promise<T> {
  return JSON.parse(new TextDecoder().decode(await unpacked(path)))
}

export interface SmallModel {
  /** Files with other content than the model's own: JSON, or bytes. null: none. */
  files?: Readonly<Record<string, object | null>>
  /**
   * Of the decoder: `fp16` has its states in half precision; `uint8` has weights of eight bits, and is as the tools of
   * Hugging Face make it of the same model (optimum 1.26.1 with output_attentions, quantize.py of transformers.js).
   */
  precision?: 'fp16' | 'uint8'
}

/** @returns the folder */
export async function writeSmallModel(folder: string, { files = {}, precision }: SmallModel = {}): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const decoder = `decoder_model_merged${precision === undefined ? '' : `_${precision}`}.onnx.gz`
  const { tokenizer } = await readGolden<{ tokenizer: object }>(join(golden, '..', '..', 'bpe-golden.json.gz'))
  const whole: Record<string, object | null> = {
    'encoder_model.onnx': await unpacked(join(golden, 'encoder_model.onnx.gz')),
    'decoder_model_merged.onnx': await unpacked(join(golden, decoder)),
    'tokenizer.json': tokenizer,
    ...(await Bun.file(join(golden, 'configs.json')).json()),
    ...files,
  }
  for (const [name, content] of Object.entries(whole)) {
    if (content === null) continue
    await Bun.write(join(folder, name), content instanceof Uint8Array ? content : JSON.stringify(content))
  }
  return folder
}

/** What load() needs to know of a card. */
export const smallCard: Card = {
  id: 'small',
  family: 'small',
  name: 'Small',
  description: '',
  task: 'automatic-speech-recognition',
  architecture: 'whisper',
  preference: 1,
  builtIn: false,
  license: { name: 'none', attribution: '', limits: null },
  files: [],
  options: { translates: true },
  sources: [],
  languages: ['en', 'de'],
  scripts: [],
  sampleRateHz: 16_000,
  memoryBytes: 0,
  createdAt: 0,
  cloning: null,
  voices: [],
  defaultVoice: null,
  voiceAliases: {},
  mixing: false,
}
