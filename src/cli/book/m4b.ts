/** An M4B: AAC frames in an MP4 whose movie box comes last, with chapter marks. */
import { EncodedAudioPacketSource, EncodedPacket, Mp4OutputFormat, Output as Muxer, StreamTarget } from 'mediabunny'
import type { Marks } from '../../book/marks.ts'
import { withChapters } from '../../book/mp4-chapters.ts'
import { defaultSampleRateHz } from '../../domain/speech.ts'
import type { Output } from './output.ts'

const adtsBytes = 7
const frameSamples = 1024
/** AAC-LC, 24 kHz (index 6), one channel (ISO/IEC 14496-3, 1.6.2.1). */
const description = new Uint8Array([0x13, 0x08])
const decoderConfig = { codec: 'mp4a.40.2', sampleRate: defaultSampleRateHz, numberOfChannels: 1, description }

export class M4bFile {
  readonly #output: Output
  readonly #muxer: Muxer
  readonly #source = new EncodedAudioPacketSource('aac')
  #movie: { box: Uint8Array; position: number } | null = null
  #frames = 0

  private constructor(output: Output, { title, author }: Marks) {
    this.#output = output
    const writable = new WritableStream<{ data: Uint8Array; position: number }>({
      write: ({ data, position }) => output.write(data, position),
    })
    const format = new Mp4OutputFormat({
      fastStart: false,
      onMoov: (data, position) => void (this.#movie = { box: data.slice(), position }),
    })
    this.#muxer = new Muxer({ format, target: new StreamTarget(writable) })
    this.#muxer.addAudioTrack(this.#source)
    this.#muxer.setMetadataTags({
      ...(title !== null && { title, album: title }),
      ...(author !== null && { artist: author }),
      genre: 'Audiobook',
    })
  }

  /** @param marks only the titles are used now; the chapters are written at the end */
  static async open(output: Output, marks: Marks): Promise<M4bFile> {
    const file = new M4bFile(output, marks)
    await file.#muxer.start()
    return file
  }

  /** @param adts whole frames */
  async add(adts: Uint8Array): Promise<void> {
    for (let at = 0; at + adtsBytes <= adts.length;) {
      const size = ((adts[at + 3]! & 3) << 11) | (adts[at + 4]! << 3) | (adts[at + 5]! >> 5)
      const seconds = frameSamples / defaultSampleRateHz
      const packet = new EncodedPacket(adts.slice(at + adtsBytes, at + size), 'key', this.#frames * seconds, seconds)
      await this.#source.add(packet, this.#frames === 0 ? { decoderConfig } : undefined)
      this.#frames++
      at += size
    }
  }

  async finish({ chapters }: Marks): Promise<void> {
    await this.#muxer.finalize()
    if (this.#movie === null || chapters.length === 0) return
    const { box, position } = this.#movie
    await this.#output.write(withChapters(box, chapters, position), position)
  }
}
