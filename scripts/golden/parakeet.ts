/**
 * Writes src/models/parakeet/golden.json: the output of Python's onnx-asr with the small models, for the sounds and
 * clips of their test. `bun scripts/golden/parakeet.ts [PYTHON]`, with shared/data beside the repository.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { s16AsBytes } from '../../src/audio/pcm.ts'
import { parityClips, parityFile } from '../../src/models/parakeet/clips.fixture.ts'
import { smallModels, writeModel } from '../../src/models/parakeet/graphs.fixture.ts'
import { hashOf } from '../../src/testing/speech-clips.ts'

const folder = mkdtempSync(join(tmpdir(), 'myna-golden-'))
try {
  const models = smallModels.map(({ name }) => join(folder, name))
  for (const [index, model] of smallModels.entries()) await writeModel(models[index]!, model)
  const clips = await parityClips()
  mkdirSync(join(folder, 'clips'))
  const files = Object.entries(clips).map(([name, pcm]) => {
    const file = join(folder, 'clips', name)
    writeFileSync(file, s16AsBytes(pcm))
    return file
  })
  const script = join(import.meta.dir, 'parakeet.py')
  const { stdout, stderr, success } = Bun.spawnSync([process.argv[2] ?? 'python3', script, ...models, '--', ...files])
  if (!success) throw new Error(stderr.toString())
  const answers: Record<string, object> = JSON.parse(stdout.toString())
  const golden = Object.fromEntries(
    Object.entries(answers).map(([name, answer]) => [name, { hash: hashOf(clips[name]!), ...answer }]),
  )
  await Bun.write(parityFile, `${JSON.stringify(golden)}\n`)
} finally {
  rmSync(folder, { recursive: true })
}
