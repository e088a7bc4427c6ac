/**
 * Tries whether an engine can load a model, for files without a published hash. This command starts an engine of its
 * own, where a server's would run; it checks the files against the architecture's contract, as at every load.
 */
import type { Config } from '../../config.ts'
import { logTo } from '../../log.ts'
import type { Card } from '../../domain/card.ts'
import { MynaError } from '../../domain/error.ts'
import { systemClock } from '../../domain/time.ts'
import { clipRateHz } from '../../engine/protocol.ts'

/** The largest models take minutes to load from a slow disk. */
const limitMs = 600_000

/** @returns why it cannot be used, as a sentence; null: it can */
export async function whyUnusable(config: Config, card: Card, signal: AbortSignal): Promise<string | null> {
  // The server's half of the program is large: loaded where it is needed.
  const [{ speechEngine, transcriptionEngine }, { chooseDevices }, { findCuda }] = await Promise.all([
    import('../serve/engines.ts'),
    import('../serve/devices.ts'),
    import('../serve/cuda.ts'),
  ])
  const log = logTo(() => {}, 'quiet', systemClock.nowMs)
  const devices = await chooseDevices(config.device, config.cudaTf32, () => findCuda(config))
  const ending = AbortSignal.any([signal, AbortSignal.timeout(limitMs)])
  const engine = (card.task === 'text-to-speech' ? speechEngine : transcriptionEngine)(config, devices, log)
  try {
    if (card.task === 'text-to-speech') {
      const plain = {
        speed: 1,
        voiceState: null,
        language: null,
        instructions: null,
        seed: null,
        share: 'trial',
        text: 'One.',
      }
      const order = { ...plain, model: card.id, voiceId: card.defaultVoice ?? '', sampleRateHz: card.sampleRateHz }
      for await (const _ of engine.speak(order, ending)) break
    } else {
      const plain = { share: 'trial', language: null, prompt: null, temperature: 0, words: false }
      const order = { ...plain, model: card.id }
      for await (const _ of engine.transcribe({ ...order, task: 'transcribe' }, aSecondOfSilence(), ending)) break
    }
    return null
  } catch (error) {
    if (signal.aborted || !(error instanceof MynaError)) throw error
    return error.message
  } finally {
    await engine.close()
  }
}

async function* aSecondOfSilence(): AsyncGenerator<Int16Array> {
  yield new Int16Array(clipRateHz)
}
