/**
 * What the reference libraries make of Whisper's sounds and texts; whisper-features.py asks them.
 *
 * - `bun scripts/golden/whisper-features.ts`: writes the golden numbers of the features and the tokenizer.
 * - `bun scripts/golden/whisper-features.ts features WAV...`: compares with our features of these clips.
 * - `bun scripts/golden/whisper-features.ts vocabulary TIKTOKEN`: compares with our tokenizer by a true vocabulary of
 *   openai/whisper (`whisper/assets/*.tiktoken`), which is too large to be here.
 *
 * MYNA_PYTHON names the Python that has the libraries.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fromS16 } from '../../src/audio/pcm.ts'
import { readWav } from '../../src/audio/wav.ts'
import { ByteLevelBpe } from '../../src/models/tokenizers/bpe.ts'
import { tokenizerTexts } from '../../src/models/tokenizers/bpe-texts.fixture.ts'
import {
  brokenIds,
  hashOfIds,
  hashOfText,
  textCount,
  tokenizerSeed,
} from '../../src/models/tokenizers/bpe-golden.fixture.ts'
import { LogMelMeter } from '../../src/models/whisper/features.ts'
import { featureClips, goldenFrames } from '../../src/models/whisper/features.fixture.ts'

type Features = Record<string, Record<'80' | '128', Record<'transformers' | 'openai', number[][]>>>

const models = join(import.meta.dir, '..', '..', 'src', 'models')
const work = mkdtempSync(join(tmpdir(), 'myna-golden-'))

function ask(...words: string[]): void {
  const python = process.env['MYNA_PYTHON'] ?? 'python3'
  const { stderr, success } = Bun.spawnSync([python, join(import.meta.dir, 'whisper-features.py'), ...words])
  if (!success) throw new Error(stderr.toString())
}

const answer = (name: string): Promise<unknown> => Bun.file(join(work, name)).json()
const writeGolden = (path: string, value: unknown) => Bun.write(path, Bun.gzipSync(JSON.stringify(value), { level: 9 }))

async function features(clips: Record<string, Float32Array>): Promise<Features> {
  for (const [name, pcm] of Object.entries(clips)) await Bun.write(join(work, `${name}.f32`), pcm)
  ask('features', work)
  return (await answer('features.json')) as Features
}

async function writeFeatures(): Promise<void> {
  const golden = Object.entries(await features(await featureClips())).map(([name, byBands]) => {
    const kept = Object.entries(byBands).map(([bands, { transformers }]) => [
      bands,
      transformers.map((row) => goldenFrames(row).map((value) => Math.round(value * 1e5))),
    ])
    return [name, Object.fromEntries(kept)]
  })
  await writeGolden(join(models, 'whisper', 'golden', 'features.json.gz'), Object.fromEntries(golden))
}

async function compareFeatures(paths: string[]): Promise<void> {
  const clips = Object.fromEntries(
    await Promise.all(
      paths.map(async (path, i) => [`${i}`, fromS16(readWav(await Bun.file(path).bytes()).pcm)] as const),
    ),
  )
  for (const [name, byBands] of Object.entries(await features(clips))) {
    for (const [bands, byLibrary] of Object.entries(byBands)) {
      const ours = new LogMelMeter(Number(bands)).measure(clips[name]!)
      for (const [library, rows] of Object.entries(byLibrary)) {
        const differences = rows.flatMap((row, band) =>
          row.map((value, frame) => Math.abs(value - ours.values[band * ours.frames + frame]!)),
        )
        const largest = differences.reduce((most, difference) => Math.max(most, difference), 0)
        console.log(`${paths[Number(name)]}, ${bands} bands, ${library}: ${largest.toExponential(1)}`)
      }
    }
  }
}

interface Tokens {
  ids: number[][]
  texts: string[]
}

async function tokens(texts: string[], ids: number[][]): Promise<Tokens> {
  await Bun.write(join(work, 'texts.json'), JSON.stringify(texts))
  await Bun.write(join(work, 'ids.json'), JSON.stringify(ids))
  ask('tokens', work)
  return (await answer('tokens.json')) as Tokens
}

async function writeTokenizer(): Promise<void> {
  const texts = tokenizerTexts(textCount, tokenizerSeed)
  await Bun.write(join(work, 'texts.json'), JSON.stringify(texts))
  ask('learn', work)
  const tokenizer = await answer('tokenizer.json')
  const theirs = await tokens(texts, brokenIds(new ByteLevelBpe(tokenizer).size))
  const encoded = theirs.ids.map(hashOfIds).join('')
  const decoded = theirs.texts.map(hashOfText).join('')
  await writeGolden(join(models, 'tokenizers', 'bpe-golden.json.gz'), { tokenizer, encoded, decoded })
}

async function compareVocabulary(path: string): Promise<void> {
  ask('vocabulary', work, path)
  const bpe = new ByteLevelBpe(await answer('tokenizer.json'))
  const texts = tokenizerTexts(textCount, tokenizerSeed)
  const ids = brokenIds(bpe.size)
  const theirs = await tokens(texts, ids)
  const otherIds = texts.filter((text, i) => hashOfIds(bpe.encode(text)) !== hashOfIds(theirs.ids[i]!))
  const otherTexts = ids.filter((row, i) => bpe.decode(row) !== theirs.texts[i])
  console.log(`${path}: ${texts.length} texts, ${otherIds.length} encoded otherwise: ${JSON.stringify(otherIds)}`)
  console.log(`${ids.length} rows of tokens, ${otherTexts.length} decoded otherwise: ${JSON.stringify(otherTexts)}`)
}

const [command, ...paths] = process.argv.slice(2)
try {
  if (command === 'features') await compareFeatures(paths)
  else if (command === 'vocabulary') await compareVocabulary(paths[0]!)
  else {
    await writeFeatures()
    await writeTokenizer()
  }
} finally {
  rmSync(work, { recursive: true })
}
