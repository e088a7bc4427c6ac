/**
 * Previews and pictures of voices (docs/api.md 4.7). Public ones must load in any page's bare `<audio>` or `<img>`
 * element, so credentials are ignored there; without a key the others do not even reveal whether they exist.
 */
import { owns, type Voice } from '../../domain/voice.ts'
import type { Library } from '../../service/library.ts'
import type { PictureStyle } from '../../service/ports/sound.ts'
import { noPreview, type PreviewForm, type Previews } from '../../service/previews.ts'
import { notReady } from '../../service/voice-refusals.ts'
import { openToAll } from '../cors.ts'
import { pictureDetail, previewDetail } from '../openapi/voices.ts'
import { audioTypes, pictureTypes } from '../content-types.ts'
import { type Endpoint, endpoints } from '../endpoint.ts'
import { parseQuery } from '../fields/field.ts'
import type { Exchange, Route } from '../exchange.ts'
import type { Gate } from '../gate.ts'
import { ranged } from '../ranged.ts'
import { pictureFields, previewFields } from './query.ts'
import { voiceIdOf } from './record.ts'

export interface VoicePreviewParts {
  gate: Gate
  library: Library
  previews: Previews
}

export const voicePreviewRoutes = (route: Route, parts: VoicePreviewParts) =>
  endpoints(route, [
    ['GET /v1/voices/{voice_id}/preview', previewDetail, (exchange) => answer(exchange, parts, formatOf(exchange))],
    ...(['png', 'webp'] as const).map((format): Endpoint => [
      `GET /v1/voices/{voice_id}/preview.${format}`,
      pictureDetail(format),
      (exchange) => answer(exchange, parts, styleOf(exchange, format)),
    ]),
  ])

async function answer(exchange: Exchange, parts: VoicePreviewParts, form: PreviewForm): Promise<Response> {
  const voice = await admitted(exchange, parts)
  exchange.keepOpen()
  const { bytes, digest } = await parts.previews.get(voice, form)
  const whole = {
    bytes,
    type: typeof form === 'string' ? audioTypes[form] : pictureTypes[form.format],
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

const formatOf = ({ url }: Exchange): PreviewForm => parseQuery(previewFields, url.searchParams).response_format

const styleOf = ({ url }: Exchange, format: PictureStyle['format']): PictureStyle => ({
  ...parseQuery(pictureFields, url.searchParams),
  format,
})
