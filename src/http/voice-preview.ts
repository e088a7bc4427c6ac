/**
 * Previews and pictures of voices (docs/api.md 4.7). Public ones must load in any page's bare `<audio>` or `<img>`
 * element, so credentials are ignored there; without a key the others do not even reveal whether they exist.
 */
import { Elysia } from 'elysia'
import { owns, type Voice } from '../domain/voice.ts'
import type { Library } from '../service/library.ts'
import type { PictureStyle } from '../service/ports-sound.ts'
import { noPreview, type PreviewForm, previewFormats, type Previews } from '../service/previews.ts'
import { notReady } from '../service/voice-refusals.ts'
import { openToAll } from './cors.ts'
import { pictureDetail, previewDetail } from './openapi/voices.ts'
import type { Exchange, Route } from './exchange.ts'
import type { Gate } from './gate.ts'
import { invalidInput } from './invalid.ts'
import { ranged } from './ranged.ts'
import { voiceIdOf } from './voice-record.ts'

export interface VoicePreviewParts {
  gate: Gate
  library: Library
  previews: Previews
}

const types = { wav: 'audio/wav', mp3: 'audio/mpeg', opus: 'audio/ogg', png: 'image/png', webp: 'image/webp' } as const

export const voicePreviewRoutes = (route: Route, parts: VoicePreviewParts) =>
  new Elysia()
    .get(
      '/v1/voices/:voice_id/preview',
      route('/v1/voices/{voice_id}/preview', (exchange) => answer(exchange, parts, formatOf(exchange))),
      { detail: previewDetail },
    )
    .get(
      '/v1/voices/:voice_id/preview.png',
      route('/v1/voices/{voice_id}/preview.png', (exchange) => answer(exchange, parts, styleOf(exchange, 'png'))),
      { detail: pictureDetail('png') },
    )
    .get(
      '/v1/voices/:voice_id/preview.webp',
      route('/v1/voices/{voice_id}/preview.webp', (exchange) => answer(exchange, parts, styleOf(exchange, 'webp'))),
      { detail: pictureDetail('webp') },
    )

async function answer(exchange: Exchange, parts: VoicePreviewParts, form: PreviewForm): Promise<Response> {
  const voice = await admitted(exchange, parts)
  exchange.keepOpen()
  const { bytes, digest } = await parts.previews.get(voice, form)
  const whole = {
    bytes,
    type: types[typeof form === 'string' ? form : form.format],
    etag: `"${digest}"`,
    modifiedMs: voice.updatedAtMs,
    cacheControl: voice.isPublic ? 'public, max-age=86400' : 'private, no-store',
  }
  return ranged(exchange.request, whole, exchange.headers)
}

/** A voice that is ready and open to this request. The id is checked before any credential. */
async function admitted(exchange: Exchange, { gate, library }: VoicePreviewParts): Promise<Voice> {
  const id = voiceIdOf(exchange)
  const voice = await library.find(id)
  if (voice !== null && voice.isPublic && voice.status === 'ready') {
    openToAll(exchange.headers)
    gate.countPublic(exchange)
    return voice
  }
  const caller = await gate.enter(exchange, null, 'requests')
  if (voice === null || !owns(voice, caller)) throw library.missing(id)
  if (voice.status === 'processing') throw notReady('voice_id')
  if (voice.status === 'failed') throw noPreview()
  return voice
}

function formatOf({ url }: Exchange): PreviewForm {
  const given = url.searchParams.get('response_format')?.toLowerCase()
  if (given === undefined || given === '') return 'wav'
  const found = previewFormats.find((format) => format === given)
  if (found !== undefined) return found
  throw invalidInput(['query', 'response_format'], `input should be one of: ${previewFormats.join(', ')}`, 'enum')
}

function styleOf({ url }: Exchange, format: PictureStyle['format']): PictureStyle {
  const theme = url.searchParams.get('theme') || 'light'
  if (theme === 'light' || theme === 'dark') return { theme, format }
  throw invalidInput(['query', 'theme'], 'input should be one of: light, dark', 'enum')
}
