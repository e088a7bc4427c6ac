/**
 * Silero's graph as it is run here: many windows of a stream in one run, and a third of the work for each. The file has
 * a branch for each rate, and in it branches that decide what is always the same; inside them, the weights of its LSTM
 * are cut and joined again for every window of 32 ms, because ONNX Runtime prepares no weights there. The convolutions
 * before it know nothing of the window before, so they take all windows at once, and the LSTM takes them one after
 * another as its sequence.
 */
import {
  type Constant,
  constant,
  elementTypes,
  type Graph,
  graphIn,
  type Node,
  pruned,
  readModel,
  tensorIn,
  wholeAttribute,
  writeModel,
} from '../../onnx/rewrite/graph.ts'

export const width = 128

/** The last one before the LSTM, and the first one behind it. */
const convolved = '/encoder/3/activation/Relu_output_0'
const judging = '/decoder/decoder/2/Conv_output_0'

/**
 * @param file of Silero VAD v6
 * @returns input [windows, 576] and state [2, 1, 128] in; output [windows, 1] and stateN [2, 1, 128] out
 * @throws Error if it is another graph
 */
export function manyWindows(file: Uint8Array): Uint8Array<ArrayBuffer> {
  const { graph, rest } = readModel(file)
  const choice = graph.nodes.find(({ op }) => op === 'If')
  const branch = choice === undefined ? null : graphIn(choice, 'then_branch')
  if (branch === null) throw new Error('the detector has no branch for 16 kHz')
  return writeModel({ graph: rewritten({ ...branch, inputs: graph.inputs, outputs: graph.outputs }), rest })
}

function rewritten(given: Graph): Graph {
  const { nodes } = given
  const made = (ending: string): Node => {
    const found = nodes.find(({ outputs }) => outputs[0]?.endsWith(ending))
    if (found === undefined) throw new Error(`the detector has no ${ending}`)
    return found
  }
  const weights = (ending: string): Float32Array => floatsOf(tensorIn(made(ending), 'value'), ending)
  const features = made(convolved).outputs[0]!
  const judge = made(judging)
  const constants = [
    floats('weights', [1, 4 * width, width], inOrder(weights('decoder.rnn.weight_ih'))),
    floats('recurrence', [1, 4 * width, width], inOrder(weights('decoder.rnn.weight_hh'))),
    floats(
      'biases',
      [1, 8 * width],
      [...inOrder(weights('decoder.rnn.bias_ih')), ...inOrder(weights('decoder.rnn.bias_hh'))],
    ),
    wholes('first', [0]),
    wholes('second', [1]),
    wholes('sequence', [-1, 1, width]),
    wholes('rows', [-1, width, 1]),
    wholes('column', [-1, 1]),
  ]
  const [, judgeWeights = '', judgeBias = ''] = judge.inputs
  const tail = [
    node('Reshape', [features, 'sequence'], ['heard']),
    node('Gather', ['state', 'first'], ['hidden']),
    node('Gather', ['state', 'second'], ['cell']),
    node(
      'LSTM',
      ['heard', 'weights', 'recurrence', 'biases', '', 'hidden', 'cell'],
      ['each', 'lastHidden', 'lastCell'],
      [wholeAttribute('hidden_size', width)],
    ),
    node('Concat', ['lastHidden', 'lastCell'], ['stateN'], [wholeAttribute('axis', 0)]),
    node('Reshape', ['each', 'rows'], ['remembered']),
    node('Relu', ['remembered'], ['active']),
    { ...judge, inputs: ['active', judgeWeights, judgeBias], outputs: ['judged'] },
    node('Sigmoid', ['judged'], ['probability']),
    node('Reshape', ['probability', 'column'], ['output']),
  ]
  const all = new Map([...given.constants, ...constants.map((one) => [one.name, one] as const)])
  return pruned({ ...given, nodes: [...nodes, ...tail], constants: all }, ['output', 'stateN'])
}

const node = (op: string, inputs: string[], outputs: string[], attributes: Uint8Array[] = []): Node => {
  return { op, domain: '', inputs, outputs, attributes }
}

/** PyTorch has the gates in the order input, forget, cell, output; ONNX input, output, forget, cell. */
function inOrder(gates: Float32Array): Float32Array {
  const size = gates.length / 4
  const ordered = new Float32Array(gates.length)
  for (const [place, gate] of [0, 3, 1, 2].entries()) {
    ordered.set(gates.subarray(gate * size, (gate + 1) * size), place * size)
  }
  return ordered
}

function floatsOf(found: Constant | null, name: string): Float32Array {
  if (found?.raw === undefined || found.raw === null) throw new Error(`the detector has no values for ${name}`)
  return new Float32Array(found.raw.slice().buffer)
}

const floats = (name: string, dims: number[], values: ArrayLike<number>): Constant =>
  constant(name, elementTypes.float32, dims, new Uint8Array(Float32Array.from(values).buffer))

const wholes = (name: string, values: number[]): Constant =>
  constant(name, elementTypes.int64, [values.length], new Uint8Array(BigInt64Array.from(values, BigInt).buffer))
