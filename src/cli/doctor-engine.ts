/** What `myna doctor` finds out by starting an engine of its own: inference, and a sentence of the best model. */
import type { Card } from '../domain/card.ts'
import { defaultSampleRateHz } from '../domain/speech.ts'
import type { EngineClient } from '../engine/client.ts'
import type { SpeechEngine } from '../service/ports.ts'
import { failed, type Found, ok, warning, wordsOf } from './finding.ts'
import { duration } from './format.ts'

const sentence = 'Myna can speak on this machine.'
const speakMs = 60_000
/** Of full scale: far below any voice, far above silence. */
const silentAmplitude = 500

export async function checkInference(engine: EngineClient): Promise<Found> {
  const remedy = 'Reinstall Myna, or set MYNA_NATIVE_DIR to a folder that is writable and may hold programs.'
  try {
    const { onnxRuntime, isExact, slowReason } = await engine.probe()
    if (!isExact) return failed(`ONNX Runtime ${onnxRuntime} computes wrongly in the engine`, remedy)
    if (slowReason !== null) return warning(`ONNX Runtime ${onnxRuntime} computes, but slower: ${slowReason}`, remedy)
    const { device, deviceReason } = await engine.status()
    const where = deviceReason === null ? `on ${device}` : `on ${device}, because ${deviceReason}`
    return ok(`ONNX Runtime ${onnxRuntime} computes exactly, in an engine process ${where}`)
  } catch (error) {
    return failed(`the engine cannot compute: ${wordsOf(error)}`, remedy)
  }
}

export async function checkVoice(engine: SpeechEngine, card: Card): Promise<Found> {
  const order = {
    model: card.id,
    voiceId: card.defaultVoice ?? '',
    text: sentence,
    speed: 1,
    sampleRateHz: defaultSampleRateHz,
    voiceState: null,
    language: null,
    instructions: null,
    seed: null,
  }
  const mend = card.builtIn ? 'Reinstall Myna.' : `Check its files: myna models verify ${card.id}`
  const startMs = performance.now()
  let firstMs = 0
  let samples = 0
  let loudest = 0
  try {
    for await (const { pcm } of engine.speak(order, AbortSignal.timeout(speakMs))) {
      firstMs ||= performance.now() - startMs
      samples += pcm.length
      loudest = pcm.reduce((sofar, sample) => Math.max(sofar, Math.abs(sample)), loudest)
    }
  } catch (error) {
    const last = (await engine.engines()).find(({ lastError }) => lastError !== null)?.lastError
    return failed(`${card.name} cannot speak: ${wordsOf(error)}${last === undefined ? '' : ` (${last})`}`, mend)
  }
  const seconds = samples / defaultSampleRateHz
  if (seconds < 0.5 || loudest < silentAmplitude) {
    return failed(`${card.name} gave ${duration(1000 * seconds)} of near silence`, mend)
  }
  return ok(`${card.name} spoke ${duration(1000 * seconds)} of audio; the first of it came after ${duration(firstMs)}`)
}
