import { describe, expect, test } from 'bun:test'
import { concatBytes, concatFloats, concatS16, fromS16, levelDb, s16FromBytes, s16AsBytes, toS16 } from './pcm.ts'

describe('16-bit and float', () => {
  test('every 16-bit value survives the conversion to float and back', () => {
    const all = Int16Array.from({ length: 65536 }, (_, i) => i - 32768)
    expect(toS16(fromS16(all))).toEqual(all)
  })

  test('samples that are too loud are clamped, and NaN becomes silence', () => {
    const samples = Float32Array.of(1, -1, 1.5, -7, NaN, Infinity, -Infinity, 0.5, 0.49999)
    expect([...toS16(samples)]).toEqual([32767, -32768, 32767, -32768, 0, 0, 0, 16384, 16384])
  })

  test('bytes are little-endian, and the same memory', () => {
    const pcm = Int16Array.of(1, -2, 0x1234, 7)
    const bytes = s16AsBytes(pcm.subarray(1, 3))
    expect([...bytes]).toEqual([0xfe, 0xff, 0x34, 0x12])
    pcm[1] = -3
    expect(bytes[0]).toBe(0xfd)
    pcm[1] = -2
    const shifted = new Uint8Array(5)
    shifted.set(bytes, 1)
    expect([...s16FromBytes(shifted.subarray(1))]).toEqual([-2, 0x1234])
    expect(() => s16FromBytes(shifted)).toThrow('not a whole number')
  })
})

test('level is the RMS below full scale', () => {
  const sine = Float32Array.from({ length: 48000 }, (_, i) => Math.sin((2 * Math.PI * 1000 * i) / 48000))
  expect(levelDb(sine)).toBeCloseTo(-3.0103, 3)
  expect(levelDb(sine.map((sample) => sample / 10))).toBeCloseTo(-23.0103, 3)
  expect(levelDb(new Float32Array(10))).toBe(-Infinity)
  expect(levelDb(new Float32Array(0))).toBe(-Infinity)
})

test('joining keeps the order', () => {
  expect([...concatFloats([Float32Array.of(1, 2), new Float32Array(0), Float32Array.of(3)])]).toEqual([1, 2, 3])
  expect([...concatS16([Int16Array.of(-1), Int16Array.of(2, 3)])]).toEqual([-1, 2, 3])
  expect([...concatBytes([Buffer.from('ab'), Buffer.from('c')])]).toEqual([97, 98, 99])
})
