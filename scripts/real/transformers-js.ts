/**
 * transformers.js transcribes the same clips with the same ONNX files, a line for each line, like `peers.py`. It
 * expects quantised graphs under their names on the hub. Arguments: the folder of its package, the folder of the
 * models, an id.
 */
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'

interface Recogniser {
  (pcm: Float32Array, options: object): Promise<{ text: string }>
}
interface Library {
  env: { localModelPath: string; allowRemoteModels: boolean }
  pipeline(task: string, id: string, options: object): Promise<Recogniser>
}

const [nodeFolder = '', models = '', id = ''] = process.argv.slice(2)
const { env, pipeline } = (await import(Bun.resolveSync('@huggingface/transformers', nodeFolder))) as Library

const place = join(nodeFolder, 'models', id)
for (const name of readdirSync(join(models, id))) {
  const isGraph = name.endsWith('.onnx')
  const link = join(place, isGraph ? `onnx/${name.replace('.onnx', '_quantized.onnx')}` : name)
  mkdirSync(dirname(link), { recursive: true })
  if (!existsSync(link)) symlinkSync(join(models, id, name), link)
}
const tokenizer = join(place, 'tokenizer_config.json')
if (!existsSync(tokenizer)) await Bun.write(tokenizer, '{"tokenizer_class":"WhisperTokenizer"}')
env.localModelPath = join(nodeFolder, 'models')
env.allowRemoteModels = false
// Threads as many as the other programs have; they sleep when they wait.
const calm = { session: { intra_op: { allow_spinning: '0' } } }
const sessions = { intraOpNumThreads: Number(process.env['OMP_NUM_THREADS']), extra: calm }
const options = { dtype: 'q8', device: 'cpu', session_options: sessions }
const recognise = await pipeline('automatic-speech-recognition', id, options)

for await (const line of console) {
  // The end of the input arrives as an empty line.
  if (line === '') break
  const { pcm } = JSON.parse(line) as { pcm: string }
  const before = process.cpuUsage()
  const samples = new Float32Array(await Bun.file(pcm).arrayBuffer())
  const { text } = await recognise(samples, { language: 'english', task: 'transcribe', chunk_length_s: 30 })
  const { user, system } = process.cpuUsage(before)
  process.stdout.write(`${JSON.stringify({ text: text.trim(), cpu: (user + system) / 1e6 })}\n`)
}
