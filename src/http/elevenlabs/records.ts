/** Declares the answers in ElevenLabs' words: the record that is sent and its schema come from the same line. */
import type { Caller } from '../../domain/account.ts'
import type { Card } from '../../domain/card.ts'
import { languageName } from '../../domain/language.ts'
import type { NewClone } from '../../service/clone.ts'
import * as is from '../openapi/shapes.ts'
import { from } from '../openapi/shapes.ts'
import { exampleVoiceId, voiceAnswer } from '../voices/record.ts'
import type { TimedChar } from './alignment.ts'

export const done = is.answer<null>('', { status: is.constant('ok') })

export const addedVoice = is.answer<NewClone>('', {
  voice_id: from(is.text(exampleVoiceId), 'voiceId'),
  requires_verification: is.fixed(false),
})

export const voicePage = is.record('', {
  voices: is.list(is.named('Voice', voiceAnswer)),
  has_more: is.flag(false),
  total_count: is.count(1, 'Over all pages.'),
  next_page_token: is.textOrNull(null, 'For the next page; `null` at the end.'),
})

interface NamedModel {
  id: string
  card: Card
  maxInputChars: number
}

const language = is.answer<string>('', {
  language_id: from(is.text('en'), (code: string) => code),
  name: from(is.text('English'), (code: string) => capitalized(languageName(code))),
})

const chars = (about?: string) => from(is.count(4096, about), ({ maxInputChars }: NamedModel) => maxInputChars)

export const speechModel = is.answer<NamedModel>('', {
  model_id: from(is.text('hibari'), 'id'),
  name: from(is.text('hibari'), ({ card }) => card.name),
  description: from(is.text('hibari'), ({ card }) => card.id),
  can_do_text_to_speech: is.fixed(true),
  can_do_voice_conversion: is.fixed(false),
  can_be_finetuned: is.fixed(false),
  can_use_style: is.fixed(false),
  can_use_speaker_boost: is.fixed(false),
  serves_pro_voices: is.fixed(false),
  requires_alpha_access: is.fixed(false),
  token_cost_factor: from(is.number(1), () => 1),
  max_characters_request_free_user: chars(),
  max_characters_request_subscribed_user: chars(),
  maximum_text_length_per_request: chars('The longest text, in code points.'),
  languages: from(is.list(language), ({ card }) => card.languages.map(language.of)),
})

interface TimedSpeech {
  bytes: Uint8Array
  chars: readonly TimedChar[]
  isEstimated: boolean
}

const seconds = is.list(is.number(0.05), 'In seconds from the beginning of all the audio.')

const alignment = is.answer<readonly TimedChar[]>('', {
  characters: from(is.list(is.text('H'), 'Those of the text that begin in this audio.'), (all: readonly TimedChar[]) =>
    all.map(({ char }) => char),
  ),
  character_start_times_seconds: from(seconds, (all: readonly TimedChar[]) => all.map(({ start }) => start)),
  character_end_times_seconds: from(seconds, (all: readonly TimedChar[]) => all.map(({ end }) => end)),
})

const alignmentOrNull: is.Shape<is.Json | null> = {
  schema: { ...alignment.schema, type: ['object', 'null'] } as is.Shape['schema'],
  example: alignment.example,
}

export const timedSpeech = is.answer<TimedSpeech>('', {
  audio_base64: from(is.text('SUQzBAA=', 'Bytes of the `output_format`.'), ({ bytes }) =>
    Buffer.from(bytes).toString('base64'),
  ),
  alignment: from(alignmentOrNull, ({ chars }) => (chars.length === 0 ? null : alignment.of(chars))),
  normalized_alignment: from(alignmentOrNull, () => null),
  // Ours: whether the times are the model's own.
  alignment_estimated: from(
    is.flag(false, 'The model does not time its words: they were shared out over the sound by their length.'),
    'isEstimated',
  ),
})

/** An account and what it has left. */
export interface Subscriber extends Caller {
  /** In the last thirty days. */
  spokenChars: number
  /** That the balance pays for; null: no limit. */
  charsLeft: number | null
  voices: number
  /** null: as many as it likes. */
  maxVoices: number | null
}

/** Stands for no limit: the largest number that every client can hold. */
const endless = 2 ** 31 - 1

export const subscription = is.answer<Subscriber>('', {
  tier: is.constant('myna'),
  status: is.constant('active'),
  character_count: from(is.count(1200, 'Spoken in the last thirty days.'), 'spokenChars'),
  character_limit: from(
    is.count(101200, 'These and those that the balance still pays for; 2147483647 if nothing limits them.'),
    ({ spokenChars, charsLeft }) => (charsLeft === null ? endless : Math.min(endless, spokenChars + charsLeft)),
  ),
  max_character_limit_extension: is.zero(),
  max_credit_limit_extension: is.zero(),
  can_extend_character_limit: is.fixed(false),
  allowed_to_extend_character_limit: is.fixed(false),
  voice_slots_used: from(is.count(3), 'voices'),
  voice_limit: from(is.count(100, '2147483647 if nothing limits them.'), ({ maxVoices }) => maxVoices ?? endless),
  voice_add_edit_counter: is.zero('Not counted.'),
  professional_voice_slots_used: is.zero(),
  professional_voice_slots_used_in_workspace: is.zero(),
  professional_voice_limit: is.zero(),
  can_extend_voice_limit: is.fixed(false),
  can_use_instant_voice_cloning: is.fixed(true),
  can_use_professional_voice_cloning: is.fixed(false),
  currency: is.constant('usd'),
  current_overage: is.answer<unknown>('', {
    amount: is.constant('0'),
    currency: is.constant('usd'),
  }) as is.Sent<unknown>,
  open_invoices: from(is.list(is.text(), '', []), () => []),
  has_open_invoices: is.fixed(false),
})

export const user = is.answer<Subscriber>('', {
  user_id: from(is.text('acct_01KAJ5ZV0A1B2C3D4E5F6G7H8J'), ({ account }) => account.id),
  workspace_id: from(is.text('acct_01KAJ5ZV0A1B2C3D4E5F6G7H8J', 'The same as `user_id`.'), ({ account }) => account.id),
  first_name: from(is.text('workshop', 'The account.'), ({ account }) => account.name),
  subscription,
  xi_api_key_preview: from(is.text('sk-myna-AbCd'), ({ key }) => key.prefix),
  is_api_key_hashed: is.fixed(true),
  is_new_user: is.fixed(false),
  is_onboarding_completed: is.fixed(true),
  is_onboarding_checklist_completed: is.fixed(true),
  can_use_delayed_payment_methods: is.fixed(false),
  seat_type: is.constant('workspace_member'),
  created_at: is.unixS(1763712000, ({ account }) => account.createdAtMs),
})

const capitalized = (name: string): string => name.slice(0, 1).toUpperCase() + name.slice(1)
