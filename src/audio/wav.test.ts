import { describe, expect, test } from 'bun:test'
import { ALL_FORMATS, BufferSource, Input } from 'mediabunny'
import { concatBytes, s16AsBytes } from './pcm.ts'
import { readWav, wavHeader, wavHeaderBytes } from './wav.ts'

const pcm = Int16Array.from({ length: 4800 }, (_, i) => i * 5 - 12000)
const samples = s16AsBytes(pcm)

/** Any chunk, with its pad byte where the size is odd. */
function chunk(name: string, body: Uint8Array): Uint8Array {
  const head = new Uint8Array(8)
  head.set(new TextEncoder().encode(name))
  new DataView(head.buffer).setUint32(4, body.length, true)
  return concatBytes([head, body, new Uint8Array(body.length % 2)])
}

const file = (...chunks: Uint8Array[]): Uint8Array =>
  concatBytes([Buffer.from('RIFF\0\0\0\0WAVE', 'latin1'), ...chunks])

const format = (tag = 1, channels = 1, rateHz = 16000, bits = 16): Uint8Array => {
  const body = new DataView(new ArrayBuffer(16))
  body.setUint16(0, tag, true)
  body.setUint16(2, channels, true)
  body.setUint32(4, rateHz, true)
  body.setUint16(14, bits, true)
  return chunk('fmt ', new Uint8Array(body.buffer))
}

describe('header', () => {
  test('another reader accepts a finite file', async () => {
    const bytes = concatBytes([wavHeader(22050, samples.length), samples])
    const input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS })
    const track = await input.getPrimaryAudioTrack()
    expect([track?.codec, track?.sampleRate, track?.numberOfChannels]).toEqual(['pcm-s16', 22050, 1])
    expect(await input.computeDuration()).toBeCloseTo(4800 / 22050, 9)
    expect(readWav(bytes)).toEqual({ sampleRateHz: 22050, pcm })
  })

  test('a stream claims the largest size in both places', () => {
    const header = wavHeader(24000, null)
    expect(header.length).toBe(wavHeaderBytes)
    expect(Buffer.from(header).toString('hex')).toBe(
      '52494646ffffffff57415645666d74201000000001000100c05d000080bb00000200100064617461ffffffff',
    )
    expect(readWav(concatBytes([header, samples]))).toEqual({ sampleRateHz: 24000, pcm })
  })

  test('refuses more than 4 GiB', () => {
    expect(() => wavHeader(24000, 2 ** 32)).toThrow('do not fit')
  })
})

describe('reader', () => {
  test('skips chunks that it does not know, odd ones too', () => {
    const odd = chunk('LIST', Buffer.from('odd'))
    expect(readWav(file(odd, format(), odd, chunk('data', samples), odd))).toEqual({ sampleRateHz: 16000, pcm })
  })

  test('accepts an extensible format that contains PCM', () => {
    const body = new Uint8Array(40)
    body.set(format(0xfffe).subarray(8))
    body[24] = 1
    expect(readWav(file(chunk('fmt ', body), chunk('data', samples))).pcm).toEqual(pcm)
  })

  test('reads the existing part of a file that was cut off', () => {
    const whole = file(format(), chunk('data', samples))
    expect(readWav(whole.subarray(0, whole.length - 3)).pcm).toEqual(pcm.slice(0, -2))
  })

  test('reads from the middle of a larger buffer', () => {
    const padded = concatBytes([new Uint8Array(7), file(format(), chunk('data', samples))])
    expect(readWav(padded.subarray(7)).pcm).toEqual(pcm)
  })

  const junk: [string, Uint8Array, string][] = [
    ['nothing', new Uint8Array(0), 'not a WAV file'],
    ['text', Buffer.from('RIFF is what this text starts with'), 'not a WAV file'],
    ['no data', file(format()), 'without data'],
    ['no format', file(chunk('data', samples)), 'before its format'],
    ['a short format', file(chunk('fmt ', new Uint8Array(4))), 'cut short'],
    ['a format beyond the end', file(format()).subarray(0, 22), 'cut short'],
    ['stereo', file(format(1, 2), chunk('data', samples)), 'not 16-bit mono PCM (format 1, 2 channels, 16 bits)'],
    ['floats', file(format(3, 1, 16000, 32), chunk('data', samples)), 'not 16-bit mono PCM'],
    ['no rate', file(format(1, 1, 0), chunk('data', samples)), 'sample rate of 0'],
  ]
  test.each(junk)('refuses %s', (_, bytes, message) => {
    expect(() => readWav(bytes)).toThrow(message)
  })
})
