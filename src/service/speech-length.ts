/**
 * Estimates how long a request will last when it is spoken: this is known before anything is held, or the request is
 * refused.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { MynaError } from '../domain/error.ts'
import { spokenSeconds } from '../text/duration.ts'

/** Thousands of characters that are read without a break: some 5 ms. */
const readAtOnce = 8

/**
 * @param speed 1: the voice's own pace
 * @param maxSeconds longest that one request may last
 * @returns seconds of sound, by estimate
 * @throws MynaError `string_above_max_length`
 */
export async function estimateSpeech(input: string, speed: number, maxSeconds: number): Promise<number> {
  let estimate = 0
  let read = 0
  for (const seconds of spokenSeconds(input)) {
    estimate = seconds / speed
    if (estimate > maxSeconds) throw tooLong(maxSeconds)
    if (++read % readAtOnce === 0) await nextTurn()
  }
  return estimate
}

function tooLong(maxSeconds: number): MynaError {
  const message =
    `Invalid 'input': it would take more than ${minutes(maxSeconds)} to speak, which is the limit per request. ` +
    'Digits, symbols and single letters take much longer than words; send the text in parts.'
  return new MynaError('string_above_max_length', message, { param: 'input' })
}

const minutes = (seconds: number): string =>
  seconds < 120 ? `${seconds} seconds` : `${Math.round(seconds / 6) / 10} minutes`
