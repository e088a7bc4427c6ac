/** The routes of ElevenLabs' API in the API's document. */
import type { OpenAPIV3_1 } from 'openapi-types'
import { textToSpeechQuery } from '../elevenlabs/speech-request.ts'
import { voiceSearchFields } from '../elevenlabs/voice-search.ts'
import { audioTypes } from '../content-types.ts'
import { exampleVoiceId } from '../voices/record.ts'
import { transcriptionCodes } from './audio.ts'
import { binaryOf, type Description, detail, formBody, jsonBody, ok, pathId, rates } from './parts.ts'
import { engineCodes, headerRef } from './refusals.ts'
import { schemaRef } from './shapes.ts'

export const elevenLabsTag: OpenAPIV3_1.TagObject = {
  name: 'ElevenLabs',
  description:
    'For programs that speak ElevenLabs’ protocol: their base URL is this server, without `/v1`, and their key is ' +
    'one of this server. The header `xi-api-key` chooses this protocol; with `Authorization` these addresses do ' +
    'not exist. It also changes four that are described elsewhere: `GET /v1/models` is a bare array, ' +
    '`GET /v1/voices` has all voices without pages, `DELETE /v1/voices/{voice_id}` answers `{"status":"ok"}`, and ' +
    '`POST /v1/voices/add` answers once the voice can speak. Errors also have `detail`, with `status` and `message`; ' +
    'a 422 has its list of faults there.',
}

const theirs = (operationId: string, summary: string, its: Omit<Description, 'protocol'>) =>
  detail(elevenLabsTag.name, operationId, summary, { ...its, protocol: 'elevenlabs' })

const voice = pathId('voice_id', 'A voice’s id, alias or name.', 'nova', 'voice_not_found', 'validation_error')

const speech: Description = {
  access: 'tts',
  about:
    'The same as `POST /v1/audio/speech`, in ElevenLabs’ words; both routes send the sound while it is made. Fields ' +
    'that are not listed are ignored.',
  idempotent: true,
  path: voice,
  query: textToSpeechQuery,
  body: jsonBody({
    schema: schemaRef('TextToSpeechRequest'),
    example: { text: 'The myna repeats what it has heard.', model_id: 'eleven_multilingual_v2' },
  }),
  answers: {
    200: {
      description: 'The audio, chunk by chunk.',
      headers: { 'X-Request-Id': headerRef('OperationId'), 'X-Myna-Warning': headerRef('Warning'), ...rates },
      content: binaryOf([audioTypes.mp3, audioTypes.opus, audioTypes.wav, audioTypes.pcm]),
    },
  },
  codes: [
    'invalid_json',
    'string_above_max_length',
    'unsupported_value',
    'insufficient_balance',
    'idempotency_conflict',
    ...engineCodes,
    'voice_model_mismatch',
    'operation_cancelled',
    'voice_not_ready',
    'voice_unusable',
  ],
}

export const textToSpeechDetail = theirs('textToSpeech', 'Create speech, as ElevenLabs’ API does it', speech)

export const streamSpeechDetail = theirs('streamTextToSpeech', 'Stream speech, as ElevenLabs’ API does it', speech)

const timed = (description: string): Description => ({
  ...speech,
  about:
    'The times of characters come from those of words: the characters of a word share its time evenly. If the model ' +
    'does not time its words, these are estimated and `alignment_estimated` is true.',
  answers: { 200: ok('TimedSpeech', description) },
})

export const timedSpeechDetail = theirs(
  'textToSpeechWithTimestamps',
  'Create speech with times of characters',
  timed('One object.'),
)

export const streamTimedDetail = theirs(
  'streamTextToSpeechWithTimestamps',
  'Stream speech with times of characters',
  timed('One object a line. The audio of the last one may be empty.'),
)

export const speechToTextDetail = theirs('speechToText', 'Transcribe audio, as ElevenLabs’ API does it', {
  access: 'tts',
  about:
    'The same as `POST /v1/audio/transcriptions`, in ElevenLabs’ words. The answer comes at once, whatever `webhook` ' +
    'says. Speakers are not told apart, and addresses of recordings are not fetched. Fields that are not listed are ' +
    'ignored.',
  body: formBody('SpeechToTextRequest'),
  answers: { 200: ok('Transcript', 'The text and its words.') },
  codes: transcriptionCodes,
})

export const searchVoicesDetail = theirs('searchVoices', 'List voices, as ElevenLabs’ API does it', {
  access: 'voices',
  about: 'Your own voices that are ready, and public ones. Parameters that are not listed are ignored.',
  query: voiceSearchFields,
  answers: { 200: ok('VoicePage', 'The voices.') },
  codes: ['invalid_cursor'],
})

export const editVoiceDetail = theirs('editVoice', 'Update a voice, as ElevenLabs’ API does it', {
  access: 'voices',
  about:
    'For its owner; fields that are not named stay. `files` are refused: a voice keeps the clip it was cloned from.',
  path: pathId('voice_id', 'A voice’s id.', exampleVoiceId, 'voice_not_found', 'validation_error'),
  body: formBody('EditVoiceRequest'),
  answers: { 200: ok('Done', 'It is changed.') },
  codes: ['voice_not_owned', 'unsupported_media_type', 'request_timeout', 'request_too_large', 'storage_full'],
})

export const userDetail = theirs('retrieveUser', 'Get the account, as ElevenLabs’ API does it', {
  access: 'usage',
  answers: { 200: ok('User', 'The account.') },
})

export const subscriptionDetail = theirs('retrieveSubscription', 'Get what is left, as ElevenLabs’ API does it', {
  access: 'usage',
  about: 'How many characters were spoken, and how many the balance still pays for.',
  answers: { 200: ok('Subscription', 'What is left.') },
})
