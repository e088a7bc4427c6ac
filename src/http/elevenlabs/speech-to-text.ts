/** `POST /v1/speech-to-text`: transcription in ElevenLabs' words, with the times of words. */
import type { Body } from '../body.ts'
import type { Endpoint } from '../endpoint.ts'
import { json } from '../exchange.ts'
import { speechToTextDetail } from '../openapi/elevenlabs.ts'
import { readWhole } from '../transcription/body.ts'
import { readTranscription, transcriptionFields } from '../transcription/request.ts'
import { transcribeAction, type TranscriptionsParts } from '../transcription/transcriptions.ts'
import { ownModel } from './model-names.ts'
import { transcript } from './transcript-record.ts'

export function speechToTextEndpoints(parts: TranscriptionsParts): readonly Endpoint[] {
  const { formLimits, limits } = parts
  const fields = transcriptionFields(limits)
  const transcribe = transcribeAction(
    parts,
    (request) => readTranscription(request, 'transcribe', formLimits, fields, inOurWords),
    async (transcribing) => json(transcript.of(await readWhole(transcribing))),
  )
  return [['POST /v1/speech-to-text', speechToTextDetail, transcribe]]
}

/** ElevenLabs' other fields are ignored. */
const inOurWords = ({ model_id: model, language_code: language }: Body): Body => ({
  model: typeof model === 'string' ? ownModel(model.trim()) : model,
  language,
  response_format: 'verbose_json',
  timestamp_granularities: 'word',
})
