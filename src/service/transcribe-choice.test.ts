/** Which model transcribes, given the installed cards. */
import { describe, expect, test } from 'bun:test'
import { cards } from '../catalog/cards.ts'
import type { Card } from '../domain/card.ts'
import { CardCatalog } from '../catalog/catalog.ts'
import { MynaError } from '../domain/error.ts'
import { chooseListener, type Wanted } from './transcribe-choice.ts'

const choose = (
  installed: readonly string[],
  wanted: Partial<Wanted> = {},
  onCard = false,
  known: readonly Card[] = cards,
): string => {
  const catalog = new CardCatalog(
    known,
    ({ id }) => installed.includes(id),
    () => onCard,
  )
  try {
    const { card, language } = chooseListener(
      { model: null, language: null, task: 'transcribe', wordTimes: false, ...wanted },
      catalog,
    )
    return `${card.id} ${language}`
  } catch (error) {
    if (!(error instanceof MynaError)) throw error
    return `${error.code} ${error.param}: ${error.message}`
  }
}

const both = ['whisper-base', 'parakeet-tdt-0.6b-v2', 'kokoro-82m']

describe('without a name, or with an alias', () => {
  test.each<[string, readonly string[], Partial<Wanted>, string]>([
    ['the preferred one', both, {}, 'parakeet-tdt-0.6b-v2 null'],
    ['by OpenAI’s name', both, { model: 'whisper-1' }, 'parakeet-tdt-0.6b-v2 null'],
    ['by another of them', both, { model: 'gpt-4o-mini-transcribe-2025-12-15' }, 'parakeet-tdt-0.6b-v2 null'],
    ['one that knows the language', both, { language: 'french' }, 'whisper-base fr'],
    ['the preferred one of those that know it', both, { language: 'en-GB' }, 'parakeet-tdt-0.6b-v2 en'],
    ['one that translates', both, { task: 'translate' }, 'whisper-base null'],
    ['the only one that is pulled', ['whisper-tiny.en'], {}, 'whisper-tiny.en null'],
    ['the built-in one where nothing is', [], { model: 'whisper-1' }, 'moonshine-tiny-en null'],
    ['the built-in one for English', [], { language: 'en-GB' }, 'moonshine-tiny-en en'],
  ])('%s', (_, installed, wanted, chosen) => {
    expect(choose(installed, wanted)).toBe(chosen)
  })

  describe('when word times are requested', () => {
    const wordTimes = true
    const turbo = ['whisper-large-v3-turbo', 'whisper-tiny-words', 'whisper-base-words']
    test.each<[string, readonly string[], Partial<Wanted>, string]>([
      ['one that has them comes before one that is preferred', turbo, {}, 'whisper-base-words null'],
      ['also by OpenAI’s name', turbo, { model: 'whisper-1' }, 'whisper-base-words null'],
      [
        'of those that know the language',
        ['parakeet-tdt-0.6b-v2', ...turbo],
        { language: 'ja' },
        'whisper-base-words ja',
      ],
      ['of those that translate', ['parakeet-tdt-0.6b-v3', ...turbo], { task: 'translate' }, 'whisper-base-words null'],
      ['the preferred one of them', ['parakeet-tdt-0.6b-v2', ...turbo], {}, 'parakeet-tdt-0.6b-v2 null'],
      ['without one, as if nobody had asked', ['whisper-tiny', 'whisper-base'], {}, 'whisper-base null'],
      [
        'nor where only others know the language',
        ['parakeet-tdt-0.6b-v2', 'whisper-tiny'],
        { language: 'ja' },
        'whisper-tiny ja',
      ],
      [
        'never in place of a model that is named',
        turbo,
        { model: 'whisper-large-v3-turbo' },
        'whisper-large-v3-turbo null',
      ],
    ])('%s', (_, installed, wanted, chosen) => {
      expect(choose(installed, { wordTimes, ...wanted })).toBe(chosen)
    })

    test('on a graphics card, the twin that runs entirely on it', () => {
      const installed = ['whisper-large-v3-turbo', 'parakeet-tdt-0.6b-v3', 'parakeet-tdt-0.6b-v3-fp32']
      expect(choose(installed, { wordTimes }, true)).toBe('parakeet-tdt-0.6b-v3-fp32 null')
    })
  })

  test('on a graphics card, the twin that runs entirely on it, also for a language', () => {
    const twins = ['parakeet-tdt-0.6b-v3', 'parakeet-tdt-0.6b-v3-fp32']
    expect(choose(twins)).toBe('parakeet-tdt-0.6b-v3 null')
    expect([choose(twins, {}, true), choose(twins, { language: 'de' }, true)]).toEqual([
      'parakeet-tdt-0.6b-v3-fp32 null',
      'parakeet-tdt-0.6b-v3-fp32 de',
    ])
  })

  test('is refused when no model can do it', () => {
    expect(choose([], {}, false, [])).toStartWith('transcription_unavailable null: No transcription model')
    expect(choose(['parakeet-tdt-0.6b-v2', 'whisper-tiny.en'], { language: 'fr' })).toBe(
      "unsupported_value language: Invalid value: 'fr'. No installed model knows this language (fr). " +
        'Supported values are: en. One that does: myna models pull whisper-base',
    )
    expect(choose([], { language: 'fr' })).toBe(
      "unsupported_value language: Invalid value: 'fr'. The model 'moonshine-tiny-en' does not know this language " +
        '(fr). Supported values are: en. One that does: myna models pull whisper-base',
    )
    expect(choose([], { task: 'translate' })).toBe(
      "unsupported_value model: The model 'moonshine-tiny-en' cannot translate. " +
        'One that can: myna models pull whisper-base',
    )
    expect(choose(['parakeet-tdt-0.6b-v2', 'whisper-tiny.en'], { task: 'translate' })).toBe(
      'unsupported_value model: No installed model can translate. One that can: myna models pull whisper-base',
    )
    expect(choose(both, { language: 'tlh' })).toBe(
      "unsupported_value language: Invalid value: 'tlh'. No installed model knows this language (tlh).",
    )
  })
})

describe('a named model', () => {
  test.each<[Partial<Wanted>, string]>([
    [{ model: 'whisper-base' }, 'whisper-base null'],
    [{ model: 'whisper-base', language: 'Deutsch' }, 'unsupported_value language'],
    [{ model: 'whisper-base', language: 'de-AT' }, 'whisper-base de'],
    [{ model: 'parakeet-tdt-0.6b-v2', language: 'de' }, 'unsupported_value language'],
    [{ model: 'parakeet-tdt-0.6b-v2', task: 'translate' }, 'unsupported_value model'],
    [{ model: 'whisper-small' }, 'model_not_found model'],
    [{ model: 'whisper-2' }, 'model_not_found model'],
    [{ model: 'kokoro-82m' }, 'unsupported_value model'],
    [{ model: 'hibari' }, 'unsupported_value model'],
    [{ model: 'gpt-4o-mini-tts' }, 'unsupported_value model'],
  ])('%p: %s', (wanted, outcome) => {
    expect(choose(both, wanted)).toStartWith(outcome)
  })
})
