/**
 * Knows what a voice says of itself: one sentence for each language, long enough to judge a voice by (about five
 * seconds) and without numbers or names, so that every model reads it alike.
 */
import type { Card } from '../domain/card.ts'
import { MynaError } from '../domain/error.ts'
import { primaryLanguage } from '../domain/language.ts'
import type { SpeechEngine } from './ports.ts'

export const previewHz = 24_000
const longestMs = 10_000
/** Samples are the service's own work, not the account's. */
const ownShare = 'samples'
const fadeMs = 50

const sentences: Readonly<Record<string, string>> = {
  ar: 'هذا هو صوتي. يمكنني أن أقرأ لك الرسائل والقصص، في أي وقت تريد.',
  cs: 'Takhle zní můj hlas. Rád vám kdykoli přečtu zprávy, příběhy nebo dlouhé dopisy.',
  de: 'So klingt meine Stimme. Ich lese dir gern Nachrichten, Geschichten und lange Briefe vor.',
  en: 'This is how I sound. I can read your messages, your stories and your long letters aloud.',
  es: 'Así suena mi voz. Puedo leerte tus mensajes, tus cuentos y tus cartas más largas.',
  fr: 'Voici ma voix. Je peux vous lire vos messages, vos histoires et vos longues lettres.',
  hi: 'मेरी आवाज़ ऐसी है। मैं आपके संदेश, कहानियाँ और लंबे पत्र पढ़कर सुना सकता हूँ।',
  it: 'Ecco la mia voce. Posso leggerti i messaggi, le storie e le lettere più lunghe.',
  ja: 'これが私の声です。メッセージや物語、長い手紙も、いつでも読み上げます。',
  ko: '제 목소리는 이렇습니다. 메시지와 이야기, 긴 편지까지 언제든지 읽어 드릴게요.',
  nl: 'Zo klinkt mijn stem. Ik lees je graag berichten, verhalen en lange brieven voor.',
  pl: 'Tak brzmi mój głos. Chętnie przeczytam ci wiadomości, opowieści i długie listy.',
  pt: 'É assim que eu falo. Posso ler as suas mensagens, as suas histórias e as suas cartas.',
  ru: 'Так звучит мой голос. Я могу прочитать вам сообщения, рассказы и длинные письма.',
  sv: 'Så här låter min röst. Jag läser gärna upp meddelanden, berättelser och långa brev.',
  tr: 'Sesim böyle. Mesajlarını, hikâyelerini ve uzun mektuplarını sana okuyabilirim.',
  uk: 'Так звучить мій голос. Я можу прочитати вам повідомлення, оповідання й довгі листи.',
  zh: '这就是我的声音。我可以随时为你朗读消息、故事，还有很长的信。',
}

export interface SampleOf {
  card: Card
  voiceId: string
  voiceState: Uint8Array | null
  /** BCP-47; null: whatever the model speaks first. */
  language: string | null
}

/** In the voice's own language if its model speaks that, else in the model's first one. */
export function sampleText({ card, language }: Pick<SampleOf, 'card' | 'language'>): {
  text: string
  language: string
} {
  const spoken = card.languages.map(primaryLanguage)
  const own = language === null ? [] : [primaryLanguage(language)].filter((wanted) => spoken.includes(wanted))
  const chosen = [...own, ...spoken].find((candidate) => sentences[candidate] !== undefined) ?? 'en'
  return { text: sentences[chosen] ?? '', language: chosen }
}

/**
 * @returns mono, 24 kHz, at most 10 s
 * @throws MynaError `engine_unavailable`, `generation_failed` also when no sound came; the signal's reason
 */
export async function speakSample(of: SampleOf, engine: SpeechEngine, signal: AbortSignal): Promise<Int16Array> {
  const { card, voiceId, voiceState } = of
  const { text, language } = sampleText(of)
  const order = {
    model: card.id,
    share: ownShare,
    voiceId,
    text,
    voiceState,
    speed: 1,
    sampleRateHz: previewHz,
    language,
    instructions: null,
    seed: null,
  }
  const longest = (longestMs / 1000) * previewHz
  const pcm = new Int16Array(longest)
  let length = 0
  for await (const frame of engine.speak(order, signal)) {
    const taken = frame.pcm.subarray(0, longest - length)
    pcm.set(taken, length)
    length += taken.length
    if (length === longest) break
  }
  if (length === 0) throw new MynaError('generation_failed', 'The engine made no audio.')
  if (length === longest) fadeOut(pcm)
  return pcm.slice(0, length)
}

function fadeOut(pcm: Int16Array): void {
  const samples = (fadeMs / 1000) * previewHz
  const from = pcm.length - samples
  for (let i = 0; i < samples; i++) pcm[from + i] = Math.round((pcm[from + i] ?? 0) * (1 - i / samples))
}
