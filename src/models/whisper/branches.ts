/**
 * Some published half-precision decoders go wrong in the branch that continues from states (as reported for
 * onnx-community's exports): every transcript would be nonsense after its first word. So a few tokens are computed in
 * both ways when a model is loaded, and a model whose ways differ is refused: without states it would be ten times as
 * slow, and another precision of the same model is a pull away. What a decoder claims about batches is tried, too: an
 * export may have one window hard-coded.
 */
import type { WhisperConfig } from './config.ts'
import { encoderPositions } from './config.ts'
import type { Encoded, Steps, WhisperGraphs } from './graphs.ts'
import { decoderFile } from './sessions.ts'
import { joinRows } from './rows.ts'
import { Random } from '../../domain/random.ts'
import { bestOf } from './sampling.ts'
import { promptOf, type WhisperTokens } from './tokens.ts'

/** Share of the spread of the logits. Rounding to 16 bits gives about 0.001; wrong states differ by 0.5 and more. */
const tolerance = 0.3
/**
 * With 8-bit weights each run rounds audio and states anew, as coarsely as its largest number requires: logits of
 * exports that transcribe well differ by 4.7 and more, as those of broken ones do. Tokens distinguish them, in a text
 * that determines what comes next: 8-bit exports of Whisper base and tiny.en (signed, unsigned, by channel) choose 0.83
 * to 0.97 of them alike; with lost states, keys of another layer, keys for values, positions from 0 or swapped branches
 * it is 0 to 0.38. Audio states of another layer are not detected (0.73, 0.84).
 */
const sameTokensMin = 0.5
const predictable =
  ' It was the best of times, it was the worst of times, it was the age of wisdom.' +
  ' One two three, one two three, one two three, one two three,'

/** @param isCoarse the weights have eight bits @throws Error that names the file */
export async function checkBranches(
  graphs: WhisperGraphs,
  tokens: WhisperTokens,
  config: WhisperConfig,
  isCoarse: boolean,
): Promise<void> {
  if (isCoarse) {
    const rows = await bothWays(graphs, tokens, config, tokens.bpe.encode(predictable))
    const same = rows.filter(({ found, expected }) => best(found) === best(expected)).length
    if (same >= sameTokensMin * rows.length) return
    throw new Error(failure(`it chooses ${same} of ${rows.length} tokens alike`))
  }
  const rows = await bothWays(graphs, tokens, config, trialOf(tokens).text)
  const difference = Math.max(...rows.map(({ found, expected }) => distance(found, expected)))
  // NaN is not a small difference.
  if (!(difference <= tolerance)) throw new Error(failure(`by ${difference.toFixed(2)} of the spread of its logits`))
}

/**
 * The next token after each token of the text: by states, and as expected by the branch that reads everything at once.
 */
async function bothWays(
  graphs: WhisperGraphs,
  tokens: WhisperTokens,
  config: WhisperConfig,
  text: readonly number[],
): Promise<{ found: Float32Array; expected: Float32Array }[]> {
  const { prompt } = trialOf(tokens)
  const encoded = soundOf(graphs, config, new Random(1))
  const whole = await graphs.first([...prompt, ...text], encoded)
  whole.release()
  return continued(graphs, prompt, encoded, async (steps) => {
    const rows: { found: Float32Array; expected: Float32Array }[] = []
    for (const [index, id] of text.entries()) {
      const found = (await steps.step([id])).slice()
      rows.push({ found, expected: rowOf(whole.logits, config, prompt.length + index) })
    }
    return rows
  })
}

const best = (logits: Float32Array): number => bestOf(logits, logits.keys())

/**
 * @returns how many windows this decoder really transcribes at once, each as if it were alone; null: two fail, because
 * of the decoder, or because memory was short
 */
export async function tryBatch(
  graphs: WhisperGraphs,
  tokens: WhisperTokens,
  config: WhisperConfig,
): Promise<number | null> {
  if (graphs.maxBatch === 1) return 1
  const random = new Random(2)
  const sounds = [soundOf(graphs, config, random), soundOf(graphs, config, random)]
  const { prompt, text } = trialOf(tokens)
  const ids = text.slice(0, sounds.length)
  try {
    const together = await secondLogits(graphs, prompt, joinRows(sounds), ids)
    for (const [at, sound] of sounds.entries()) {
      const alone = await secondLogits(graphs, prompt, sound, [ids[at]!])
      const difference = distance(rowOf(together, config, at), alone)
      if (!(difference <= tolerance)) throw new Error(`they differ by ${difference.toFixed(2)} of their spread`)
    }
    return graphs.maxBatch
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    console.error(`${decoderFile} takes one window at a time: two at once fail (${reason})`)
    return null
  }
}

/** The next token after a prompt and one more token, for each window. */
const secondLogits = (
  graphs: WhisperGraphs,
  prompt: readonly number[],
  encoded: Encoded,
  ids: readonly number[],
): Promise<Float32Array> => continued(graphs, prompt, encoded, (steps) => steps.step(ids))

/** Gives back what the prompt and the steps behind it have taken. */
async function continued<T>(
  graphs: WhisperGraphs,
  prompt: readonly number[],
  encoded: Encoded,
  work: (steps: Steps) => Promise<T>,
): Promise<T> {
  const begun = await graphs.first(prompt, encoded)
  try {
    const steps = begun.follow()
    try {
      return await work(steps)
    } finally {
      steps.release()
    }
  } finally {
    begun.release()
  }
}

function trialOf(tokens: WhisperTokens): { prompt: number[]; text: number[] } {
  const language = tokens.languages.keys().next().value ?? null
  const prompt = [...promptOf(tokens, language, 'transcribe'), tokens.noTimestamps]
  return { prompt, text: tokens.bpe.encode(' one two three').slice(0, 4) }
}

function soundOf(graphs: WhisperGraphs, { width }: WhisperConfig, random: Random): Encoded {
  return graphs.encoded(Float32Array.from({ length: encoderPositions * width }, () => 2 * random.next() - 1))
}

const rowOf = (logits: Float32Array, { vocabulary }: WhisperConfig, row: number): Float32Array =>
  logits.subarray(row * vocabulary, (row + 1) * vocabulary)

const failure = (difference: string): string =>
  `${decoderFile} continues differently than it begins (${difference}): this export is broken; use the model in ` +
  'another precision'

/** Root mean square of the differences over the standard deviation of the expected values. NaN if a value is NaN. */
export function distance(found: Float32Array, expected: Float32Array): number {
  const { length } = expected
  const mean = expected.reduce((sum, value) => sum + value, 0) / length
  const spread = expected.reduce((sum, value) => sum + (value - mean) ** 2, 0)
  const squares = found.reduce((sum, value, at) => sum + (value - expected[at]!) ** 2, 0)
  return Math.sqrt(squares / spread)
}
