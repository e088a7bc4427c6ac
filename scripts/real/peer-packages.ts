/**
 * The programs that are measured beside Myna, from their packages in exact versions. Libraries and servers have an
 * environment each, with the newest ONNX Runtime: exporters need an older one, which would make these slower.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { run, work } from './weights.ts'

const ears = ['faster-whisper==1.2.1', 'ctranslate2==4.8.5']
export const packages = {
  libraries: [
    ...ears,
    'kokoro-onnx==0.6.1',
    'onnx-asr==0.12.0',
    'sherpa-onnx==2.0.1',
    'onnxruntime==1.32.0',
    'soundfile==0.14.0',
    'soxr==1.1.0',
  ],
  servers: [...ears, 'fastkokoro[cpu]==0.7.0', 'onnxruntime==1.32.0', 'faster-whisper-server==0.0.3'],
  node: ['@huggingface/transformers@4.3.1'],
}

const programOf = (environment: string, name: string): string => join(work, environment, 'bin', name)

/** With the libraries. */
export const peerPython = programOf('libraries', 'python')
/** @param name a program that the servers' packages install */
export const serverProgram = (name: string): string => programOf('servers', name)
/** With transformers.js and its own ONNX Runtime. */
export const nodePeers = join(work, 'node')

/** The libraries, in Python and in JavaScript. */
export async function preparePeers(): Promise<void> {
  await install('libraries', packages.libraries)
  mkdirSync(nodePeers, { recursive: true })
  await Bun.write(join(nodePeers, 'package.json'), '{"private":true}')
  // Scripts would fetch parts that only a graphics card needs.
  await run('npm', 'install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', nodePeers, ...packages.node)
}

export const prepareServers = (): Promise<void> => install('servers', packages.servers)

async function install(environment: string, names: readonly string[]): Promise<void> {
  mkdirSync(work, { recursive: true })
  const python = programOf(environment, 'python')
  if (!existsSync(python)) await run('python3', '-m', 'venv', join(work, environment))
  await run(python, '-m', 'pip', 'install', '-q', ...names)
}
