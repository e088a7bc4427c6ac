/** `myna doctor` on an engine of its own: inference, and a sentence from each model. */
import type { Card } from '../../domain/card.ts'
import { defaultSampleRateHz } from '../../domain/speech.ts'
import type { EngineClient } from '../../engine/client.ts'
import type { SpeechEngine } from '../../service/ports.ts'
import type { TranscriptionEngine } from '../../service/ports/transcription.ts'
import { failed, type Found, ok, warning, wordsOf } from './finding.ts'
import { duration } from '../terminal/format.ts'

const sentence = 'Myna can speak on this machine.'
const speakMs = 60_000
/** Whisper's largest takes most of a minute for a sentence on two cores. */
const hearMs = 240_000
const hearingRateHz = 16_000
/** Fraction of full scale: far below any voice, far above silence. */
const silentAmplitude = 500

export async function checkInference(engine: EngineClient): Promise<Found> {
  const remedy = 'Reinstall Myna, or set MYNA_NATIVE_DIR to a folder that is writable and may contain programs.'
  try {
    const { onnxRuntime, isExact } = await engine.probe()
    if (!isExact) return failed(`ONNX Runtime ${onnxRuntime} computes wrong results in the engine`, remedy)
    const { device, deviceReason } = await engine.status()
    const where = deviceReason === null ? `on ${device}` : `on ${device}, because ${deviceReason}`
    const found = `ONNX Runtime ${onnxRuntime} computes exactly, in an engine process ${where}`
    const hasCard = deviceReason?.startsWith('cuda:') === true
    return hasCard ? warning(found, 'See what is wrong with the card: myna runtime status') : ok(found)
  } catch (error) {
    return failed(`the engine cannot compute: ${wordsOf(error)}`, remedy)
  }
}

/** A sentence of the model's default voice. */
export async function checkVoice(engine: SpeechEngine, card: Card): Promise<Found> {
  const startMs = performance.now()
  let firstMs = 0
  let samples = 0
  let loudest = 0
  try {
    for await (const pcm of spoken(engine, card, defaultSampleRateHz)) {
      firstMs ||= performance.now() - startMs
      samples += pcm.length
      loudest = pcm.reduce((sofar, sample) => Math.max(sofar, Math.abs(sample)), loudest)
    }
  } catch (error) {
    const last = (await engine.engines()).find(({ lastError }) => lastError !== null)?.lastError
    return failed(`${card.name} cannot speak: ${reasonOf(error)}${last === undefined ? '' : ` (${last})`}`, mend(card))
  }
  const seconds = samples / defaultSampleRateHz
  if (seconds < 0.5 || loudest < silentAmplitude) {
    return failed(`${card.name} gave ${duration(1000 * seconds)} of near silence`, mend(card))
  }
  return ok(`${card.name} spoke ${duration(1000 * seconds)} of audio; the first of it after ${duration(firstMs)}`)
}

/** What a model transcribes of the sentence. @param speaker who says it @param voice its model */
export async function checkHearing(
  engine: TranscriptionEngine,
  card: Card,
  speaker: SpeechEngine,
  voice: Card,
): Promise<Found> {
  const signal = AbortSignal.timeout(hearMs)
  const order = {
    model: card.id,
    share: 'account',
    task: 'transcribe',
    prompt: null,
    temperature: 0,
    words: false,
  } as const
  const startMs = performance.now()
  const said: string[] = []
  try {
    const language = card.languages.includes('en') ? 'en' : null
    const parts = engine.transcribe({ ...order, language }, spoken(speaker, voice, hearingRateHz), signal)
    for await (const { segments } of parts) said.push(...segments.map(({ text }) => text.trim()))
  } catch (error) {
    return failed(`${card.name} cannot transcribe: ${reasonOf(error)}`, mend(card))
  }
  const text = said.join(' ')
  if (text === '') return warning(`${card.name} transcribed nothing of a spoken sentence`, mend(card))
  return ok(`${card.name} transcribed in ${duration(performance.now() - startMs)}: ${text}`)
}

async function* spoken(engine: SpeechEngine, card: Card, sampleRateHz: number): AsyncGenerator<Int16Array> {
  const plain = { speed: 1, voiceState: null, language: null, instructions: null, seed: null, share: 'doctor' }
  const order = { ...plain, model: card.id, voiceId: card.defaultVoice ?? '', text: sentence, sampleRateHz }
  for await (const { pcm } of engine.speak(order, AbortSignal.timeout(speakMs))) yield pcm
}

const mend = ({ id, builtIn, like }: Card): string => {
  if (builtIn) return 'Reinstall Myna.'
  if (like !== undefined) return `These files are your own: export them like those of ${like}, and import them again.`
  const check = `Check its files: myna models verify ${id}.`
  return `${check} If they are intact, replace them: myna models rm ${id}, then pull it`
}

/** The engine's own words where it has said any, without where in the program it was. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && typeof error.cause === 'string' ? error.cause : wordsOf(error)
  return cause.split('\n', 1)[0] ?? cause
}
