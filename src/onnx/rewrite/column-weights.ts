/** Weights as products of bytes take them: signed bytes, [inputs, outputs], with a scale for each output or for all. */
import { discard } from '../discard.ts'
import { floatsOf, largest, type StoredBytes } from './stored-weights.ts'

/** Weights of eight bits: the same numbers. @param shift what is taken from each byte */
export function signedBytes({
  raw,
  outputs,
  inputs,
  turned,
  shift,
}: Pick<StoredBytes, 'raw' | 'outputs' | 'inputs' | 'turned'> & { shift: number }): Int8Array {
  const bytes = new Int8Array(inputs * outputs)
  if (turned) {
    for (let at = 0; at < bytes.length; at++) bytes[at] = raw[at]! - shift
    return bytes
  }
  for (let input = 0; input < inputs; input++) {
    for (let output = 0; output < outputs; output++) {
      bytes[input * outputs + output] = raw[output * inputs + input]! - shift
    }
  }
  return bytes
}

/** Weights of 32 bits, each rounded to the nearest of 255 steps up to the largest of its output. */
export function columnBytes(
  raw: Uint8Array,
  outputs: number,
  inputs: number,
  turned: boolean,
): { bytes: Int8Array; scales: Float32Array } {
  const values = floatsOf(raw)
  const [perOutput, perInput] = turned ? [1, outputs] : [inputs, 1]
  const most = new Float32Array(outputs)
  for (let input = 0; input < inputs; input++) {
    for (let output = 0; output < outputs; output++) {
      const size = Math.abs(values[output * perOutput + input * perInput]!)
      if (size > most[output]!) most[output] = size
    }
  }
  const scales = most.map((value) => value / largest || 1)
  const bytes = new Int8Array(inputs * outputs)
  for (let input = 0; input < inputs; input++) {
    for (let output = 0; output < outputs; output++) {
      const value = values[output * perOutput + input * perInput]!
      bytes[input * outputs + output] = Math.round(value / scales[output]!)
    }
  }
  if (values.buffer !== raw.buffer) discard(values)
  return { bytes, scales }
}

/**
 * Weights of a convolution, [outputs, channels, taps], as a product takes them: [taps * channels, outputs].
 * @param shift what is taken from each byte
 */
export function convolutionBytes({
  raw,
  outputs,
  channels,
  taps,
  shift,
}: {
  raw: Uint8Array
  outputs: number
  channels: number
  taps: number
  shift: number
}): Int8Array {
  const bytes = new Int8Array(raw.length)
  for (let output = 0; output < outputs; output++) {
    for (let channel = 0; channel < channels; channel++) {
      for (let tap = 0; tap < taps; tap++) {
        const byte = raw[(output * channels + channel) * taps + tap]!
        bytes[(tap * channels + channel) * outputs + output] = byte - shift
      }
    }
  }
  return bytes
}
