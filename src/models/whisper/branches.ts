/**
 * Some published decoders of half precision go wrong in the branch that goes on from states (as reported of
 * onnx-community's exports): every transcript would be nonsense after its first word. So a few tokens are written in
 * both ways when a model is loaded, and a model whose ways differ is refused: without states it would be ten times as
 * slow, and another precision of the same model is a pull away.
 */
import type { WhisperConfig } from './config.ts'
import { encoderPositions } from './config.ts'
import { decoderFile, type WhisperGraphs } from './graphs.ts'
import { Random } from './sampling.ts'
import { promptOf, type WhisperTokens } from './tokens.ts'

/** Of the spread of the logits. Rounding to eight bits leaves some 0.05; wrong states differ by 0.5 and more. */
const tolerance = 0.3

/** @throws Error that names the file */
export async function checkBranches(
  graphs: WhisperGraphs,
  tokens: WhisperTokens,
  config: WhisperConfig,
): Promise<void> {
  const language = tokens.languages.keys().next().value ?? null
  const prompt = [...promptOf(tokens, language, 'transcribe'), tokens.noTimestamps]
  const text = tokens.bpe.encode(' one two three').slice(0, 4)
  const random = new Random(1)
  const sound = Float32Array.from({ length: encoderPositions * config.width }, () => 2 * random.next() - 1)
  const encoded = graphs.encoded(sound)
  const whole = await graphs.first([...prompt, ...text], encoded)
  const vocabulary = whole.logits.length / (prompt.length + text.length)
  const steps = (await graphs.first(prompt, encoded)).follow()
  try {
    for (const [index, id] of text.entries()) {
      const row = (prompt.length + index) * vocabulary
      const expected = whole.logits.subarray(row, row + vocabulary)
      const difference = distance(await steps.step(id), expected)
      if (!(difference <= tolerance)) throw new Error(failure(difference))
    }
  } finally {
    steps.release()
  }
}

const failure = (difference: number): string =>
  `${decoderFile} goes on otherwise than it begins (by ${difference.toFixed(2)} of the spread of its logits): this ` +
  'export is broken; take the model in another precision'

/** Root mean square of the differences over the standard deviation of the expected. NaN when a number is none. */
export function distance(found: Float32Array, expected: Float32Array): number {
  const { length } = expected
  const mean = expected.reduce((sum, value) => sum + value, 0) / length
  const spread = expected.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const squares = found.reduce((sum, value, at) => sum + (value - expected[at]!) ** 2, 0)
  return Math.sqrt(squares / spread)
}
