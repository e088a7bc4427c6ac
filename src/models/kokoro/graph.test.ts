import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { parseMixture } from '../../domain/mixture.ts'
import { type Constant, type GraphSpec, onnxModel, type TensorSpec } from '../../testing/tiny-onnx.ts'
import { createSession } from '../../onnx/back-end.ts'
import { symbolNumbers } from '../../phonemes/symbols.ts'
import { KokoroGraph, loadGraph } from './graph.ts'
import { type Folder, golden, modelFolder, table } from './kokoro.fixture.ts'
import { Styles, styleSize } from './styles.ts'

let folder: Folder
let styles: Styles
beforeAll(async () => {
  folder = await modelFolder()
  styles = new Styles(join(folder.filesDir, 'voices'), new Set(['a', 'b', 'c']))
})
afterAll(() => folder.remove())

const mixtureOf = (voice: string) => {
  const mixed = parseMixture(voice)
  return mixed !== null && 'parts' in mixed ? mixed.parts : [{ voice, weight: 1 }]
}

test.each(golden.sounds.map((sound) => [sound.symbols.length, sound] as const))(
  'gives the same numbers, style and sound as the reference for %d symbols',
  async (length, { symbols, voice, speed, ids, style, samples, audio }) => {
    expect(Array.from(symbolNumbers(symbols, 510), Number)).toEqual(ids)
    const own = await styles.style(mixtureOf(voice), length)
    for (const [index, value] of style.entries()) expect(own[index * 16]).toBeCloseTo(value, 5)
    const graph = await loadGraph(join(folder.filesDir, 'model.onnx'), 1, null)
    const { pcm } = await graph.speak(symbols, own, speed)
    expect(pcm.length).toBe(samples)
    for (const [at, value] of audio) expect(pcm[at]).toBeCloseTo(value, 4)
    await graph.release()
  },
)

test('a mixture is the weighted mean, and a text longer than the table uses its last row', async () => {
  const [a, b] = [table(0), table(1)]
  const mixed = await styles.style(mixtureOf('a(3)+b'), 8)
  for (const at of [0, 100, 255]) {
    expect(mixed[at]).toBeCloseTo((3 * a[7 * styleSize + at]! + b[7 * styleSize + at]!) / 4, 6)
  }
  const last = await styles.style(mixtureOf('a'), 1000)
  expect(last[5]).toBe(a[509 * styleSize + 5] as number)
})

test('a voice without a file, a broken file and a voice that no card has are refused', async () => {
  await Bun.write(join(folder.filesDir, 'voices', 'c.bin'), 'short')
  expect(styles.style(mixtureOf('c'), 1)).rejects.toThrow('not a table of styles')
  expect(styles.style(mixtureOf('../model'), 1)).rejects.toThrow('no voice "../model"')
})

test('unknown symbols, no symbols and too many symbols are refused', () => {
  expect(() => symbolNumbers('', 510)).toThrow(RangeError)
  expect(() => symbolNumbers('ə'.repeat(511), 510)).toThrow(RangeError)
  expect(() => symbolNumbers('əg', 510)).toThrow('"g"')
  expect(symbolNumbers('ə'.repeat(510), 510).length).toBe(512)
})

/** Returns the speed, like an export with other types would. */
function echo(ids: string, speed: TensorSpec, out: Constant['type'], sound = 'audio'): Uint8Array {
  const graph: GraphSpec = {
    name: 'echo',
    nodes: [{ op: 'Cast', inputs: ['speed'], outputs: [sound], attributes: { to: out === 'float16' ? 10n : 1n } }],
    inputs: [
      { name: ids, type: 'int64', dims: [1, 'length'] },
      { name: 'style', type: 'float32', dims: [1, styleSize] },
      speed,
    ],
    outputs: [{ name: sound, type: out, dims: speed.dims }],
  }
  return onnxModel(graph)
}

const open = async (bytes: Uint8Array) => new KokoroGraph('k.onnx', await createSession(bytes, { threads: 1 }))
const style = new Float32Array(styleSize)

test('accepts other exports: tokens, integer speeds, half floats, a scalar', async () => {
  const whole = await open(echo('tokens', { name: 'speed', type: 'int32', dims: [1] }, 'float32'))
  expect(whole.hasFineSpeed).toBe(false)
  expect((await whole.speak('ə', style, 2)).pcm).toEqual(Float32Array.of(2))
  expect((await whole.speak('ə', style, 0.4)).pcm).toEqual(Float32Array.of(1))
  const half = await open(echo('input_ids', { name: 'speed', type: 'float16', dims: [1] }, 'float16', 'waveform'))
  expect(half.hasFineSpeed).toBe(true)
  expect((await half.speak('ə', style, 0.75)).pcm).toEqual(Float32Array.of(0.75))
  const scalar = await open(echo('input_ids', { name: 'speed', type: 'float32', dims: [] }, 'float32'))
  expect((await scalar.speak('ə', style, 1.5)).pcm).toEqual(Float32Array.of(1.5))
})

test('refuses another graph, and a sound that is not finite', async () => {
  expect(open(echo('words', { name: 'speed', type: 'float32', dims: [1] }, 'float32'))).rejects.toThrow(
    'k.onnx is not the graph this model needs: no input input_ids',
  )
  const graph = await open(echo('tokens', { name: 'speed', type: 'float32', dims: [1] }, 'float32'))
  expect(graph.speak('ə', style, Number.POSITIVE_INFINITY)).rejects.toThrow('not finite')
})
