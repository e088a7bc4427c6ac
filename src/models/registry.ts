/**
 * Knows which folder speaks a card's architecture: the only place that knows them. A model of a known architecture is
 * a card and no code; a new architecture is a folder and a line here. Each is loaded when it is first needed.
 */
import type { LoadSpeechModel, LoadTranscriptionModel } from './architecture.ts'

export const speechArchitectures: Readonly<Record<string, () => Promise<{ load: LoadSpeechModel }>>> = {
  hibari: () => import('./hibari/pipeline.ts'),
  kokoro: () => import('./kokoro/pipeline.ts'),
  pocket: () => import('./pocket/pipeline.ts'),
}

export const transcriptionArchitectures: Readonly<Record<string, () => Promise<{ load: LoadTranscriptionModel }>>> = {
  moonshine: () => import('./moonshine/pipeline.ts'),
  parakeet: () => import('./parakeet/pipeline.ts'),
  whisper: () => import('./whisper/pipeline.ts'),
}
