/**
 * Writes src/models/parakeet/nemo: a small Parakeet as NVIDIA NeMo exports it and ONNX Runtime quantises it, and NeMo's
 * own transcripts with it. `bun scripts/golden/nemo-transcripts.ts [PYTHON]`, with shared/data beside the repository.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { s16AsBytes } from '../../src/audio/pcm.ts'
import { nemoFiles, nemoFolder, nemoClips } from '../../src/models/parakeet/nemo.fixture.ts'
import { hashOf } from '../../src/testing/speech-clips.ts'

const folder = mkdtempSync(join(tmpdir(), 'myna-golden-'))
try {
  const clips = await nemoClips()
  const files = Object.entries(clips).map(([name, pcm]) => {
    const file = join(folder, name)
    writeFileSync(file, s16AsBytes(pcm))
    return file
  })
  const script = join(import.meta.dir, 'nemo-transcripts.py')
  const made = join(folder, 'made')
  const { stderr, success } = Bun.spawnSync([process.argv[2] ?? 'python3', script, made, ...files])
  if (!success) throw new Error(stderr.toString())
  const heard: { clips: Record<string, object> } = JSON.parse(readFileSync(join(made, 'heard.json'), 'utf8'))
  for (const [name, pcm] of Object.entries(clips)) heard.clips[name] = { hash: hashOf(pcm), ...heard.clips[name] }
  writeFileSync(join(made, 'heard.json'), JSON.stringify(heard))
  for (const file of ['heard.json', ...nemoFiles]) {
    const to = join(nemoFolder, `${file}.gz`)
    mkdirSync(join(to, '..'), { recursive: true })
    writeFileSync(to, Bun.gzipSync(readFileSync(join(made, file)), { level: 9 }))
  }
} finally {
  rmSync(folder, { recursive: true })
}
