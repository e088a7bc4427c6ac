/**
 * Models of the real architectures with random weights, small enough for the tests of their pipelines. They exist as
 * cards without hashes, so that a folder or a hub may hold any files, and as folders to import. They speak noise and
 * write nonsense, with the same code as the published models.
 */
import { cpSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { cards } from '../catalog/cards.ts'
import type { Card } from '../domain/card.ts'
import { card as kokoroSmall, modelFolder } from '../models/kokoro/kokoro.fixture.ts'
import { cardOf, smallModels, writeModel } from '../models/parakeet/graphs.fixture.ts'
import { smallCard as pocketSmall, writeSmall } from '../models/pocket/small.fixture.ts'
import { smallCard as whisperSmall, writeSmallModel } from '../models/whisper/model.fixture.ts'
import { temporaryFolder } from './folder.ts'
import type { TestHub } from './hub.ts'
import { testRevision } from './test-model.ts'

/** The memory that they claim, so that a budget in megabytes holds one of them but not two. */
export const smallMemoryBytes = 60_000_000

const withFiles = (card: Card, names: readonly string[], change: Partial<Card>): Card => {
  const { id } = { ...card, ...change }
  const file = (name: string) => ({ name, repo: `small/${id}`, revision: 'main', path: name })
  const files = names.map((name) => ({ ...file(name), sizeBytes: null, sha256: null }))
  return { ...card, ...change, files, memoryBytes: smallMemoryBytes }
}

const graphs = ['flow_lm_main', 'flow_lm_flow', 'mimi_decoder', 'mimi_encoder', 'text_conditioner']
const pocketFiles = [
  ...graphs.map((name) => `${name}.onnx`),
  'bundle.json',
  'tokenizer.model',
  'bos_before_voice.npy',
  'voices/alba.safetensors',
]

export const pocketCard = withFiles(pocketSmall, pocketFiles, { preference: 60, voiceAliases: { alloy: 'alba' } })

/** Of the same family. */
export const pocketSibling = withFiles(pocketSmall, pocketFiles, { id: 'pocket-small-fp32', preference: 50 })

export const kokoroCard = withFiles(
  kokoroSmall,
  ['model.onnx', ...kokoroSmall.voices.map(({ id }) => `voices/${id}.bin`)],
  { id: 'kokoro-small', family: 'kokoro-small', preference: 55 },
)

export const parakeetCard = withFiles(
  cardOf('en', 'de'),
  ['config.json', 'vocab.txt', 'encoder-model.onnx', 'decoder_joint-model.onnx'],
  { id: 'parakeet-small', family: 'parakeet-small', preference: 50, wordTimes: true },
)

const whisperFiles = [
  'encoder_model.onnx',
  'decoder_model_merged.onnx',
  'tokenizer.json',
  'config.json',
  'generation_config.json',
  'preprocessor_config.json',
]

/** Knows the languages of the published models, and reports word times. */
export const whisperCard = withFiles(whisperSmall, whisperFiles, {
  id: 'whisper-mini',
  family: 'whisper-mini',
  languages: cards.find(({ id }) => id === 'whisper-tiny')?.languages ?? [],
  preference: 40,
  wordTimes: true,
})

/** Like published models whose name ends the same way: it neither translates nor reports word times. */
export const englishWhisperCard = withFiles(whisperCard, whisperFiles, {
  id: 'whisper-mini.en',
  family: 'whisper-mini.en',
  languages: ['en'],
  preference: 39,
  options: { translates: false },
  wordTimes: false,
})

/** The small models, and the voice that is inside the program. */
export const smallCards: readonly Card[] = [
  ...cards.filter(({ builtIn }) => builtIn),
  pocketCard,
  pocketSibling,
  kokoroCard,
  parakeetCard,
  whisperCard,
  englishWhisperCard,
]

/** A folder with the files of a Pocket TTS. @param voice its only voice */
export async function pocketFolder(voice = 'alba'): Promise<string> {
  const folder = await writeSmall(temporaryFolder())
  if (voice !== 'alba') {
    renameSync(join(folder, 'voices', 'alba.safetensors'), join(folder, 'voices', `${voice}.safetensors`))
  }
  return folder
}

export async function kokoroFolder(): Promise<string> {
  const folder = temporaryFolder()
  const made = await modelFolder()
  cpSync(made.filesDir, folder, { recursive: true })
  made.remove()
  return folder
}

export async function parakeetFolder(): Promise<string> {
  const folder = temporaryFolder()
  await writeModel(folder, smallModels[0]!)
  return folder
}

export const whisperFolder = (): Promise<string> => writeSmallModel(temporaryFolder())

export async function englishWhisperFolder(): Promise<string> {
  const folder = await whisperFolder()
  const config = Bun.file(join(folder, 'generation_config.json'))
  const { lang_to_id: _, ...rest } = (await config.json()) as Record<string, unknown>
  await config.write(JSON.stringify({ ...rest, is_multilingual: false, alignment_heads: null }))
  return folder
}

/** Puts a folder's files on the hub where the card looks for them. */
export async function publishFolder(hub: TestHub, { files }: Card, folder: string): Promise<void> {
  hub.branch('main', testRevision)
  for (const { name, repo, path } of files) {
    const content = await Bun.file(join(folder, name)).bytes()
    hub.add({ repo, revision: testRevision, path, content, isLarge: /\.(?:onnx|safetensors|model)$/.test(path) })
  }
}
