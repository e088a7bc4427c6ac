/**
 * The speech model for tests: deterministic audio, and faults on request. It runs in a real engine process
 * (`engine-child.ts`), so that everything but the synthesis is real. It is not in any release executable.
 *
 * The text is the script. A word gives one chunk of a tone, `msPerChar` for each character up to the next word, the
 * space included. A word that begins with `!` is a command:
 *
 *   !throw       the model fails                      !slow=MS     waits before each later chunk
 *   !runs=MS     runs a graph again and again for that long
 *   !crash       an uncaught error ends the engine    !long=MS     gives one chunk of that length
 *   !segv        noise on stderr, then SIGSEGV        !endless     gives chunks of 100 ms forever
 *   !full        the device has no memory left        !lost        the device is lost
 *   !hang        hangs and ignores the signal         !busy        blocks the engine's thread forever
 *   !refuse      refuses the request as impossible
 *
 * A clone's state is one byte, the pitch of its tone in Hz: the second sample of the clip. The first sample requests a
 * fault (`clipFaults`).
 */
import type { Card, Task } from '../domain/card.ts'
import {
  type Clip,
  ClipRefused,
  InputRefused,
  type LoadSpeechModel,
  type SpeechInput,
  type SpokenChunk,
} from '../models/architecture.ts'
import { runSelfTest } from '../onnx/back-end.ts'
import { deviceError } from '../onnx/device.ts'

export const msPerChar = 10
const endlessMs = 100

export const testCard = (id: string, sampleRateHz: number, task: Task = 'text-to-speech'): Card => ({
  id,
  family: id,
  name: 'Test tone',
  description: 'A tone for tests.',
  task,
  architecture: 'test',
  preference: 1,
  builtIn: true,
  license: { name: 'Apache-2.0', attribution: 'none', limits: null },
  files: [],
  options: {},
  sources: ['made up'],
  languages: ['en'],
  scripts: ['Latin'],
  sampleRateHz,
  memoryBytes: 1_000_000,
  cloning: null,
  mixing: false,
  createdAt: 1_790_000_000,
  voices: [{ id: `${id}-voice`, name: 'Tone', description: 'A tone.', language: 'en', labels: {} }],
  defaultVoice: `${id}-voice`,
  voiceAliases: {},
})

/**
 * Cards of the engine that `engine-child.ts` runs for speech. `test-missing` is known, but cannot be loaded;
 * `test-slow` blocks the engine's thread for a second while it is loaded, and `test-stuck` forever; only `test` clones;
 * `test-warm` prints a line when it is warmed.
 */
export const testCards: readonly Card[] = [
  { ...testCard('test', 24_000), cloning: 'approximate' },
  testCard('test-16k', 16_000),
  { ...testCard('test-missing', 24_000), architecture: 'test-missing' },
  { ...testCard('test-slow', 24_000), architecture: 'test-slow', options: { blockMs: 1000 } },
  { ...testCard('test-full', 24_000), architecture: 'test-full' },
  { ...testCard('test-8bit', 24_000), weights: 'int8' },
  { ...testCard('test-warm', 24_000), architecture: 'test-slow', options: { blockMs: 300, saysWarm: true } },
  { ...testCard('test-stuck', 24_000), architecture: 'test-slow', options: { blockMs: Infinity } },
]

/** Sample `i` of every stream, at 30 % of full scale. */
export const toneSample = (i: number, sampleRateHz: number, hz = 220): number =>
  Math.fround(0.3 * Math.sin((2 * Math.PI * hz * i) / sampleRateHz))

const clipFaults = {
  none: 0,
  refuse: 1,
  throw: 2,
  hang: 3,
  busy: 4,
  crash: 5,
  untilDropped: 6,
  lost: 7,
} as const

/** @param hz the tone of the clone, up to 255 */
export function testClip(
  hz: number,
  fault: keyof typeof clipFaults = 'none',
): { pcm: Int16Array; sampleRateHz: number } {
  return { pcm: Int16Array.of(clipFaults[fault], hz, 0, 0), sampleRateHz: 16_000 }
}

export const load: LoadSpeechModel = async ({ card }) => ({
  sampleRateHz: card.sampleRateHz,
  speak: (input, signal) => perform(input, card.sampleRateHz, signal),
  ...(card.cloning !== null && { clone }),
  unload: async () => {},
})

async function clone({ pcm }: Clip, signal: AbortSignal): Promise<Uint8Array> {
  const [first = 0, hz = 0] = Array.from(pcm, (sample) => Math.round(sample * 32_768))
  if (first === clipFaults.refuse) throw new ClipRefused('There is no pitch in it: say a few sentences.')
  if (first === clipFaults.throw) await fault('!throw')
  if (first === clipFaults.hang) await fault('!hang')
  if (first === clipFaults.busy) await fault('!busy')
  if (first === clipFaults.crash) await fault('!crash')
  if (first === clipFaults.lost) await fault('!lost')
  if (first === clipFaults.untilDropped) {
    await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
  }
  // A view, as a model may return it: the engine has to cut it out of the buffer behind it.
  return new Uint8Array(1_000_000).fill(hz).subarray(0, 1)
}

/** @throws Error always: a model whose files are damaged */
export const loadMissing = async (): Promise<never> => {
  throw new Error('model.onnx is cut short')
}

/** @throws Error always: a model that is too large for the device */
export async function loadFull(): Promise<never> {
  await fault('!full')
  throw new Error('that fault throws')
}

/** Like a native call: nothing else runs meanwhile. */
export const loadSlow: LoadSpeechModel = async (options) => {
  const endMs = performance.now() + Number(options.card.options.blockMs)
  while (performance.now() < endMs) continue
  const model = await load(options)
  return options.card.options.saysWarm === true ? { ...model, warm: async () => console.error('warm') } : model
}

async function* perform(input: SpeechInput, rateHz: number, signal: AbortSignal): AsyncGenerator<SpokenChunk> {
  let sent = 0
  let covered = 0
  let slowMs = 0
  const hz = input.voiceState?.[0]
  const tone = (ms: number): Float32Array => {
    const start = sent
    sent += Math.round((ms * rateHz) / 1000)
    return Float32Array.from({ length: sent - start }, (_, i) => toneSample(start + i, rateHz, hz))
  }
  for (const [word] of input.text.matchAll(/\S+\s*/g)) {
    if (slowMs > 0) await Bun.sleep(slowMs)
    if (signal.aborted) return
    covered += [...word].length
    const [command = '', value = '0'] = word.trim().split('=')
    if (command === '!endless') {
      for (; !signal.aborted; await Bun.sleep(slowMs)) yield { pcm: tone(endlessMs), coveredChars: covered }
      return
    }
    if (command === '!slow') slowMs = Number(value)
    else if (command === '!runs') await runFor(Number(value), signal)
    else if (command === '!long') yield { pcm: tone(Number(value)), coveredChars: covered }
    else if (command.startsWith('!')) await fault(command)
    else yield { pcm: tone([...word].length * msPerChar), coveredChars: covered }
  }
}

/** Runs a graph again and again. @throws the signal's reason */
export async function runFor(ms: number, signal: AbortSignal): Promise<void> {
  for (const endMs = performance.now() + ms; performance.now() < endMs; await Bun.sleep(10)) {
    signal.throwIfAborted()
    await runSelfTest()
  }
}

/** Faults that a model's own code, or the libraries below it, may have. */
export async function fault(command: string): Promise<void> {
  switch (command) {
    case '!refuse':
      throw new InputRefused('The test voice does not speak so.', 'language')
    case '!throw':
      throw new Error('the model failed on purpose')
    case '!crash':
      setImmediate(() => {
        throw new Error('the engine crashed on purpose')
      })
      return new Promise(() => {})
    case '!segv':
      console.error('CUDA error 700: an illegal memory access was encountered')
      process.kill(process.pid, 'SIGSEGV')
      return new Promise(() => {})
    case '!full':
      throw deviceError('CUDA failure 2: out of memory ; GPU=0 ; hostname=here ; expr=cudaMalloc((void**)&p, size);')
    case '!lost':
      throw deviceError('CUDA failure 700: an illegal memory access was encountered ; GPU=0 ; hostname=here')
    case '!hang':
      return new Promise(() => {})
    case '!busy':
      while (true) Math.random()
    default:
      throw new Error(`no such command: ${command}`)
  }
}
