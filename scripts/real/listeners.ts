/** The programs that transcribe, each with two threads: Myna over HTTP, and others as libraries in a process each. */
import { existsSync, mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { realWeightsRoot } from '../../src/testing/real-weights.ts'
import type { Listener } from './in-turn.ts'
import { Peer, pythonPeer } from './peer.ts'
import { nodePeers, peerPython } from './peer-packages.ts'
import { sherpaMoonshine, sherpaWhisper } from './sherpa.ts'
import type { ModelId, Subject } from './subject.ts'
import { ct2Of } from './weights.ts'

export const fileOf = (bytes: Uint8Array, name: string): File => new File([bytes as Uint8Array<ArrayBuffer>], name)

export const heardBy =
  (subject: Subject, model: ModelId): Listener =>
  async ({ path }) => {
    const file = fileOf(await Bun.file(path).bytes(), path.split('/').at(-1)!)
    const { found, cpu } = await subject.hear(model, file, 'en')
    return { text: found.text, cpu }
  }

export const askedOf =
  (peer: Peer): Listener =>
  ({ path, pcmPath }) =>
    peer.ask({ path, pcm: pcmPath })

export const fasterWhisper = (type: 'int8' | 'float32'): Peer =>
  pythonPeer(peerPython, 'listen', ct2Of('whisper-base'), type)

export const transformersJs = (): Peer =>
  new Peer([process.execPath, join(import.meta.dir, 'transformers-js.ts'), nodePeers, realWeightsRoot, 'whisper-base'])

/** It reads the words of the model from two files of their own. */
export async function onnxAsr(id: 'whisper-base' | 'whisper-base-fp32'): Promise<Peer> {
  const place = join(nodePeers, 'onnx-asr', id)
  mkdirSync(place, { recursive: true })
  for (const name of ['encoder_model.onnx', 'decoder_model_merged.onnx', 'config.json']) {
    if (!existsSync(join(place, name))) symlinkSync(join(realWeightsRoot, id, name), join(place, name))
  }
  const { model, added_tokens } = (await Bun.file(join(realWeightsRoot, id, 'tokenizer.json')).json()) as {
    model: { vocab: Record<string, number> }
    added_tokens: { id: number; content: string }[]
  }
  await Bun.write(join(place, 'vocab.json'), JSON.stringify(model.vocab))
  const added = Object.fromEntries(added_tokens.map(({ id: number, content }) => [content, number]))
  await Bun.write(join(place, 'added_tokens.json'), JSON.stringify(added))
  return pythonPeer(peerPython, 'onnx-asr', place)
}

export const moonshineBySherpa = async (): Promise<Peer> =>
  pythonPeer(peerPython, 'sherpa-moonshine', ...(await sherpaMoonshine()))

export const whisperBySherpa = async (kind: 'int8' | 'fp32'): Promise<Peer> =>
  pythonPeer(peerPython, 'sherpa-whisper', ...(await sherpaWhisper(kind)))
