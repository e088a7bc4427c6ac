/** Myna beside the programs that do the same, on the same weights. `--help` says what it measures and needs. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Clip, clipsOf, joinedClip } from './real/clips.ts'
import { hearInTurn, type Listener, printHeard } from './real/in-turn.ts'
import {
  askedOf,
  fasterWhisper,
  heardBy,
  moonshineBySherpa,
  onnxAsr,
  transformersJs,
  whisperBySherpa,
} from './real/listeners.ts'
import { holdToCores, load, processor, threads } from './real/machine.ts'
import { compareHearing, compareSpeaking } from './real/over-http.ts'
import type { Peer } from './real/peer.ts'
import { packages, preparePeers, prepareServers } from './real/peer-packages.ts'
import { measureSpeaking } from './real/speaking.ts'
import { startSubject } from './real/subject.ts'
import {
  fasterWhisperServer,
  fastkokoro,
  type HearingServer,
  mynaHears,
  mynaSpeaks,
  type SpeakingServer,
  type VoiceServer,
} from './real/voice-servers.ts'
import { prepareWeights } from './real/weights.ts'

const allParts = ['hearing', 'speaking', 'servers-speaking', 'servers-hearing']
const usage = `bun scripts/bench-peers.ts [--only PART,PART] [--clips N] [--rounds N] [--shared FOLDER]

Measures Myna beside other programs with the same weights: the same clips and sentences, ${threads} threads and the
first ${threads} cores for each, all programs in turn, medians of the rounds. Word errors are beside every speed.

  hearing            Whisper base and Moonshine tiny, N clips, and three minutes as one recording
  speaking           Kokoro in 8 bits, six sentences
  servers-speaking   fastkokoro over HTTP, with one client and with four
  servers-hearing    faster-whisper-server, the same

  --only     some of these parts
  --clips    how many clips of real readers (24)
  --rounds   how often (3)
  --shared   the folder with data/clips, prototypes/embedded/librispeech-references.py and
             data/judges/dnsmos/sig_bak_ovr.onnx; without it all but servers-speaking is left out

It needs Linux with two cores or more, 8 GB of memory, taskset, Python 3.11 to 3.13 with venv and pip, npm, and 10 GB of
disk in the cache folder (XDG_CACHE_HOME or ~/.cache, below myna/real-weights). It installs there, once:

  weights    what scripts/real.ts installs and exports
  libraries  ${packages.libraries.join(' ')}
  servers    ${packages.servers.join(' ')}
  npm        ${packages.node.join(' ')}

It measures build/out/myna if that exists ("bun build/compile.ts" makes it), else the source. A program or weights that
are missing are listed at the end with the reason.`

const root = join(import.meta.dir, '..')
const { values } = parseArgs({
  options: {
    help: { type: 'boolean', default: false },
    only: { type: 'string', default: allParts.join(',') },
    clips: { type: 'string', default: '24' },
    rounds: { type: 'string', default: '3' },
    shared: { type: 'string', default: join(root, '..', 'shared') },
  },
})
if (values.help) {
  console.log(usage)
  process.exit()
}

const leftOut = new Map([
  ['onnx-asr and sherpa-onnx, one recording', 'they hear the first 30 s of a clip with Whisper'],
  ['transformers.js, a server', 'it is a library'],
  ['speaches and Kokoro-FastAPI', 'their packages were not found, or not looked for'],
])

/** What the word errors of the others are compared with. */
const baseline = 'faster-whisper, base int8'

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

/** @returns null where it fails; then the name is left out, with the reason */
async function tried<T>(name: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    leftOut.set(name, (error as Error).message.trim())
    return null
  }
}

/** Those that start and transcribe a clip, which loads their model. */
async function started(
  starts: Readonly<Record<string, () => Promise<Program>>>,
  clip: Clip,
): Promise<Map<string, Program>> {
  const programs = new Map<string, Program>()
  for (const [name, start] of Object.entries(starts)) {
    await tried(name, async () => {
      const program = await start()
      await program.listener(clip)
      programs.set(name, program)
    })
  }
  return programs
}

async function measureHearing(
  command: string[],
  clips: readonly Clip[],
  recorded: readonly Clip[],
  rounds: number,
): Promise<void> {
  const programs = await started(
    {
      'myna, base q8': () => ofMyna(command, 'base'),
      'myna, base fp32': () => ofMyna(command, 'base-fp32'),
      [baseline]: async () => ofPeer(fasterWhisper('int8')),
      'faster-whisper, base float32': async () => ofPeer(fasterWhisper('float32')),
      'transformers.js, base q8': async () => ofPeer(transformersJs()),
      'onnx-asr, base q8': async () => ofPeer(await onnxAsr('whisper-base')),
      'onnx-asr, base fp32': async () => ofPeer(await onnxAsr('whisper-base-fp32')),
      'sherpa-onnx, base int8': async () => ofPeer(await whisperBySherpa('int8')),
      'sherpa-onnx, base fp32': async () => ofPeer(await whisperBySherpa('fp32')),
      'myna, moonshine tiny': () => ofMyna(command, 'moonshine-tiny-en'),
      'sherpa-onnx, moonshine tiny': async () => ofPeer(await moonshineBySherpa()),
    },
    clips[0]!,
  )
  const peaks = () => new Map([...programs].map(([name, { peakBytes }]) => [name, peakBytes() / 1e6]))
  const listeners = Object.fromEntries([...programs].map(([name, { listener }]) => [name, listener]))
  const results = await hearInTurn(listeners, clips, rounds)
  printHeard(`${clips.length} clips of real readers`, clips, results, peaks(), baseline)
  const long = await joinedClip(recorded, 180)
  const rest = Object.entries(listeners).filter(([name]) => !/^(onnx-asr|sherpa)|moonshine/.test(name))
  if (rest.length > 0) {
    const longResults = await hearInTurn(Object.fromEntries(rest), [long], rounds)
    printHeard('clips end to end as one recording', [long], longResults, peaks())
  }
  for (const program of programs.values()) await program.end()
}

interface Entry<T> {
  name: string
  start(): Promise<T>
  /** For those that speak: whether the answer is a stream. Both are measured where both exist. */
  streams?: readonly boolean[]
}

/** Starts those that can be started, and ends them after the measurement. */
async function withServers<T extends VoiceServer>(
  entries: readonly Entry<T>[],
  measure: (servers: { name: string; server: T; streams: readonly boolean[] }[]) => Promise<void>,
): Promise<void> {
  const servers: { name: string; server: T; streams: readonly boolean[] }[] = []
  for (const { name, start, streams = [true] } of entries) {
    const server = await tried(`${name}, a server`, start)
    if (server !== null) servers.push({ name, server, streams })
  }
  try {
    if (servers.length > 0) await measure(servers)
  } finally {
    for (const { server } of servers) await server.end()
  }
}

const speakingServers = (command: string[]): Entry<SpeakingServer>[] => [
  { name: 'myna, kokoro int8', start: () => mynaSpeaks(command) },
  { name: 'fastkokoro 0.7.0, int8', start: fastkokoro, streams: [true, false] },
]

const hearingServers = (command: string[]): Entry<HearingServer>[] => [
  { name: 'myna, base q8', start: () => mynaHears(command, 'base') },
  { name: 'myna, base fp32', start: () => mynaHears(command, 'base-fp32') },
  { name: 'faster-whisper-server 0.0.3, int8', start: fasterWhisperServer },
]

const parts = new Set(values.only.split(','))
const rounds = Number(values.rounds)
holdToCores()
await tried('what could not be made of the weights', prepareWeights)
await tried('the libraries of others', preparePeers)
if (parts.has('servers-speaking') || parts.has('servers-hearing')) await tried('the servers of others', prepareServers)
const executable = join(root, 'build', 'out', 'myna')
const command = existsSync(executable) ? [executable] : [process.execPath, join(root, 'src', 'main.ts')]
const count = Number(values.clips)
const allClips = await clipsOf(values.shared, Math.max(count, 24))
const clips = allClips.slice(0, count)
if (clips.length === 0) leftOut.set('clips of real readers', `${values.shared} has none, or not their words`)
console.log(`${processor()}, ${threads} cores and threads for each program, ${load()} at the beginning`)
if (parts.has('hearing') && clips.length > 0) await measureHearing(command, clips, allClips, rounds)
if (parts.has('speaking')) {
  await tried('speaking', async () => {
    const subject = await startSubject(command, ['kokoro'])
    await measureSpeaking(subject, values.shared, rounds).finally(() => subject.stop())
  })
}
if (parts.has('servers-speaking')) {
  const measure = () => withServers(speakingServers(command), (servers) => compareSpeaking(servers, rounds))
  await tried('servers that speak', measure)
}
if (parts.has('servers-hearing') && clips.length > 0) {
  const measure = () => withServers(hearingServers(command), (servers) => compareHearing(servers, clips, rounds))
  await tried('servers that transcribe', measure)
}
console.log('\nleft out:')
for (const [name, reason] of leftOut) console.log(`  ${name}: ${reason}`)
