/**
 * Myna beside faster-whisper, transformers.js, onnx-asr, sherpa-onnx and kokoro-onnx: the same clips and sentences, the
 * same weights, two threads for each, all programs in turn. Word errors, processor time, wall time and memory, medians
 * of several rounds:
 *
 *   bun scripts/bench-peers.ts [--clips N] [--rounds N] [--shared FOLDER]
 *
 * It prepares what `real.ts` prepares, and two more packages. A program that cannot run is listed with its reason.
 */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Clip, clipsOf, joinedClip } from './real/clips.ts'
import { hearInTurn, type Listener, printHeard } from './real/in-turn.ts'
import { askedOf, fasterWhisper, heardBy, onnxAsr, sherpaOnnx, transformersJs } from './real/listeners.ts'
import type { Peer } from './real/peer.ts'
import { measureSpeaking } from './real/speaking.ts'
import { startSubject } from './real/subject.ts'
import { prepareMorePeers, prepareWeights } from './real/weights.ts'

const root = join(import.meta.dir, '..')
const { values } = parseArgs({
  options: {
    clips: { type: 'string', default: '24' },
    rounds: { type: 'string', default: '3' },
    shared: { type: 'string', default: join(root, '..', 'shared') },
  },
})

/** What runs on other weights than those at hand would compare weights, not programs. */
const leftOut = new Map([
  ['sherpa-onnx, Whisper', 'its graphs are an export of its own, with the keys and values of the sound as outputs'],
  ['sherpa-onnx, Kokoro', 'its graph has notes in the file and voices in a file of its own, which other exports lack'],
  ['onnx-asr, three minutes', 'it hears the first 30 s of a clip with Whisper'],
])

interface Program {
  listener: Listener
  peakBytes(): number
  end(): Promise<void>
}

const ofPeer = (peer: Peer): Program => ({
  listener: askedOf(peer),
  peakBytes: () => peer.peakBytes(),
  end: () => peer.end(),
})

async function ofMyna(command: string[], model: 'base' | 'base-fp32' | 'moonshine-tiny-en'): Promise<Program> {
  const subject = await startSubject(command, model === 'moonshine-tiny-en' ? [] : [model])
  return {
    listener: heardBy(subject, model),
    peakBytes: () => subject.peakBytes(),
    end: () => subject.stop(),
  }
}

/** Those that start and transcribe a clip, which loads their model; the others are left out with their reason. */
async function started(
  starts: Readonly<Record<string, () => Promise<Program>>>,
  clip: Clip,
): Promise<Map<string, Program>> {
  const programs = new Map<string, Program>()
  for (const [name, start] of Object.entries(starts)) {
    try {
      const program = await start()
      await program.listener(clip)
      programs.set(name, program)
    } catch (error) {
      leftOut.set(name, (error as Error).message)
    }
  }
  return programs
}

async function compareHearing(command: string[], clips: readonly Clip[], rounds: number): Promise<void> {
  const programs = await started(
    {
      'myna, base q8': () => ofMyna(command, 'base'),
      'myna, base fp32': () => ofMyna(command, 'base-fp32'),
      'faster-whisper, base int8': async () => ofPeer(fasterWhisper('int8')),
      'faster-whisper, base float32': async () => ofPeer(fasterWhisper('float32')),
      'transformers.js, base q8': async () => ofPeer(transformersJs()),
      'onnx-asr, base q8': async () => ofPeer(await onnxAsr('whisper-base')),
      'onnx-asr, base fp32': async () => ofPeer(await onnxAsr('whisper-base-fp32')),
      'myna, moonshine tiny': () => ofMyna(command, 'moonshine-tiny-en'),
      'sherpa-onnx, moonshine tiny': async () => ofPeer(await sherpaOnnx()),
    },
    clips[0]!,
  )
  const peaks = () => new Map([...programs].map(([name, { peakBytes }]) => [name, peakBytes() / 1e6]))
  const listeners = Object.fromEntries([...programs].map(([name, { listener }]) => [name, listener]))
  const results = await hearInTurn(listeners, clips, rounds)
  printHeard(`${clips.length} clips of real readers`, clips, results, peaks())
  const long = await joinedClip(clips, 180)
  const rest = Object.entries(listeners).filter(([name]) => !/^onnx-asr|moonshine/.test(name))
  const longResults = await hearInTurn(Object.fromEntries(rest), [long], rounds)
  printHeard('the same end to end', [long], longResults, peaks())
  for (const program of programs.values()) await program.end()
}

await prepareWeights(true)
await prepareMorePeers()
const executable = join(root, 'build', 'out', 'myna')
const command = existsSync(executable) ? [executable] : [process.execPath, join(root, 'src', 'main.ts')]
const rounds = Number(values.rounds)
const clips = await clipsOf(values.shared, Number(values.clips))
if (clips.length === 0) console.log(`\nhearing: left out, no clips and words in ${values.shared}`)
else await compareHearing(command, clips, rounds)
const speaking = await startSubject(command, ['kokoro'])
try {
  await measureSpeaking(speaking, values.shared, rounds)
} finally {
  await speaking.stop()
}
console.log('\nleft out:')
for (const [name, reason] of leftOut) console.log(`  ${name}: ${reason}`)
