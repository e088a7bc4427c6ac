/**
 * Writes src/models/silero/golden.json: the results of Python's onnxruntime for the clips of the detector's test. `bun
 * scripts/golden/vad.ts [SAMPLES]`; with a file of raw 16-bit samples at 16 kHz it compares instead, and prints the
 * largest difference between Python and us.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import graph from '@ricky0123/vad-web/dist/silero_vad_v6.onnx' with { type: 'file' }
import { fromS16, s16FromBytes, s16AsBytes } from '../../src/audio/pcm.ts'
import { loadDetector } from '../../src/models/silero/detector.ts'
import { goldenClips, hashOf } from '../../src/testing/speech-clips.ts'

function reference(pcm: Int16Array): number[] {
  const folder = mkdtempSync(join(tmpdir(), 'myna-golden-'))
  try {
    const samples = join(folder, 'samples.raw')
    writeFileSync(samples, s16AsBytes(pcm))
    const { stdout, stderr, success } = Bun.spawnSync(['python3', join(import.meta.dir, 'vad.py'), graph, samples])
    if (!success) throw new Error(stderr.toString())
    return stdout.toString().trim().split('\n').map(Number)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const given = process.argv[2]
if (given !== undefined) {
  const pcm = s16FromBytes(await Bun.file(given).bytes())
  const detector = await loadDetector()
  const ours = await detector.probabilities(fromS16(pcm), new AbortController().signal)
  const theirs = reference(pcm)
  const largest = Math.max(...ours.map((probability, i) => Math.abs(probability - (theirs[i] ?? Number.NaN))))
  console.log(`${ours.length} windows, ${theirs.length} in Python, largest difference ${largest}`)
  process.exit(0)
}
const golden = Object.fromEntries(
  Object.entries(await goldenClips()).map(([name, pcm]) => [
    name,
    { hash: hashOf(pcm), probabilities: reference(pcm) },
  ]),
)
await Bun.write(
  join(import.meta.dir, '..', '..', 'src', 'models', 'silero', 'golden.json'),
  `${JSON.stringify(golden)}\n`,
)
