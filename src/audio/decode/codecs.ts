/**
 * Turns packets into samples: one decoder per codec, all WebAssembly, driven packet by packet so that a limit holds
 * while decoding. The packages' own functions for whole files are not used: they have no limit. Each is loaded for the
 * first file that needs it, because loading all of them takes longer than decoding a short clip.
 */
import type { PacketDecoder, StreamFacts } from './planes.ts'

/** @returns null if no decoder exists for it; plain PCM needs none */
export async function openPacketDecoder(facts: StreamFacts): Promise<PacketDecoder | null> {
  switch (facts.codec) {
    case 'mp3':
      return (await import('./mp3.ts')).openMp3(facts)
    case 'flac':
      return (await import('./flac.ts')).openFlac()
    case 'opus':
      return (await import('./opus.ts')).openOpus(facts)
    case 'vorbis':
      return (await import('./vorbis.ts')).openVorbis(facts)
    case 'aac':
      return (await import('./aac.ts')).openAac(facts)
    default:
      return null
  }
}

/** Samples at 48 kHz that an Opus decoder throws away at the start: bytes 10 and 11 of OpusHead (RFC 7845, 5.1). */
export function opusPreSkip(description: Uint8Array | null): number {
  if (description === null || description.length < 12) return 0
  return new DataView(description.buffer, description.byteOffset).getUint16(10, true)
}
