/** A folder with a small model of random weights, as after a pull; made by scripts/golden/whisper-decode.ts. */
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
  /** Files whose content replaces the model's own: JSON, or bytes. null: the file is missing. */
  files?: Readonly<Record<string, object | null>>
  /**
   * `fp16`: the decoder's states have half precision. `optimum`: the same model as the tools of Hugging Face export it;
   * `uint8`: its decoder rounded to eight bits by the same tools (scripts/golden/whisper-optimum.py).
   */
  kind?: 'fp16' | 'optimum' | 'uint8'
}

/** @returns the folder */
export async function writeSmallModel(folder: string, { files = {}, kind }: SmallModel = {}): Promise<string> {
  mkdirSync(folder, { recursive: true })
  const graph = (name: string, kinds: readonly string[]) =>
    unpacked(join(golden, `${name}${kind !== undefined && kinds.includes(kind) ? `_${kind}` : ''}.onnx.gz`))
  const { tokenizer } = await readGolden<{ tokenizer: object }>(
    join(golden, '..', '..', 'tokenizers', 'bpe-golden.json.gz'),
  )
  const whole: Record<string, object | null> = {
    'encoder_model.onnx': await graph('encoder_model', ['optimum']),
    'decoder_model_merged.onnx': await graph('decoder_model_merged', ['fp16', 'optimum', 'uint8']),
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

/** The part of a card that load() needs. */
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
