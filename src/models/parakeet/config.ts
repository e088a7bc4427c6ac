/** The `config.json` of a Parakeet beside its graphs. */

export interface Config {
  /** Mel bands that the encoder hears. */
  bands: number
  /** Frames of features to one of the encoder's. */
  subsampling: number
  maxTokensPerFrame: number
}

/** The defaults of onnx-asr, for which these files are made. */
const defaultMaxTokensPerFrame = 10

/** @throws Error when it is not that of a token-and-duration transducer */
export function readConfig(json: string): Config {
  const config = parsed(json)
  const type = config['model_type']
  if (type !== 'nemo-conformer-tdt')
    throw new Error(`config.json has model type ${JSON.stringify(type)}, not nemo-conformer-tdt`)
  return {
    bands: wholeOf(config, 'features_size'),
    subsampling: wholeOf(config, 'subsampling_factor'),
    maxTokensPerFrame: wholeOf(config, 'max_tokens_per_step', defaultMaxTokensPerFrame),
  }
}

function parsed(json: string): Readonly<Record<string, unknown>> {
  try {
    return { ...JSON.parse(json) }
  } catch (error) {
    throw new Error('config.json is not JSON', { cause: error })
  }
}

function wholeOf(config: Readonly<Record<string, unknown>>, key: string, missing?: number): number {
  const value = config[key] ?? missing
  if (typeof value === 'number' && Number.isSafeInteger(value) && value > 0) return value
  throw new Error(`config.json: ${key} is ${JSON.stringify(value)}, but a positive whole number is expected`)
}
