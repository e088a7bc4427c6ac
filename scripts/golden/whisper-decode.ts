/**
 * Writes the golden numbers of Whisper's decoding: a small model of random weights as ONNX, and openai/whisper's
 * transcripts with it. `bun scripts/golden/whisper-decode.ts [model|generate]`; with `model`, writes the graphs alone;
 * with `generate`, only reports on how many clips transformers writes the same tokens as openai/whisper. It needs the
 * clips of real readers; without them it writes nothing. whisper-decode.py calls the libraries; MYNA_PYTHON
 * names the Python that has them.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readGolden } from '../../src/models/whisper/model.fixture.ts'
import { hashOfClip, madeClips, type Order, ordersFor, realClips } from '../../src/models/whisper/parity.fixture.ts'

const models = join(import.meta.dir, '..', '..', 'src', 'models')
const golden = join(models, 'whisper', 'golden')
const work = mkdtempSync(join(tmpdir(), 'myna-golden-'))

async function ask(command: string): Promise<void> {
  const python = process.env['MYNA_PYTHON'] ?? 'python3'
  const script = join(import.meta.dir, 'whisper-decode.py')
  const { exited } = Bun.spawn([python, script, command, work], { stdout: 'inherit', stderr: 'inherit' })
  if ((await exited) !== 0) throw new Error(`${command} failed`)
}

const json = (name: string): Promise<object> => Bun.file(join(work, name)).json()
const pack = (bytes: Uint8Array<ArrayBuffer> | string) => Bun.gzipSync(bytes, { level: 9 })

async function writeModel(): Promise<void> {
  for (const name of ['encoder_model', 'decoder_model_merged', 'decoder_model_merged_fp16']) {
    await Bun.write(join(golden, `${name}.onnx.gz`), pack(await Bun.file(join(work, `${name}.onnx`)).bytes()))
  }
  const names = ['config.json', 'generation_config.json', 'preprocessor_config.json']
  const configs = Object.fromEntries(await Promise.all(names.map(async (name) => [name, await json(name)])))
  await Bun.write(join(golden, 'configs.json'), `${JSON.stringify(configs, null, 2)}\n`)
}

async function writeHeard(name: string, clips: Record<string, Float32Array>, orders: Order[]): Promise<void> {
  await Bun.write(join(work, 'orders.json'), JSON.stringify(orders))
  await ask('hear')
  const hashes = Object.fromEntries(Object.entries(clips).map(([clip, pcm]) => [clip, hashOfClip(pcm)]))
  const heard = (await json('heard.json')) as (object | null)[]
  const answers = heard.flatMap((answer, index) =>
    answer === null ? [] : [{ ...orders[index]!, ...answer, options: undefined }],
  )
  await Bun.write(join(golden, name), pack(JSON.stringify({ hashes, answers })))
}

try {
  mkdirSync(golden, { recursive: true })
  const { tokenizer } = await readGolden<{ tokenizer: object }>(join(models, 'tokenizers', 'bpe-golden.json.gz'))
  await Bun.write(join(work, 'tokenizer.json'), JSON.stringify(tokenizer))
  await ask('model')
  const [made, real] = [await madeClips(), await realClips()]
  for (const [name, pcm] of Object.entries({ ...made, ...real })) await Bun.write(join(work, `${name}.f32`), pcm)
  const [, , only] = process.argv
  if (only === 'generate') await ask('generate')
  else await writeModel()
  if (only === undefined) {
    await writeHeard('made.json.gz', made, ordersFor(Object.keys(made)))
    await writeHeard('real.json.gz', real, ordersFor(Object.keys(real)))
  }
} finally {
  rmSync(work, { recursive: true })
}
