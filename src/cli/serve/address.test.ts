import { expect, test } from 'bun:test'
import { addressOf } from './address.ts'

test('an address is a port, with or without a host', () => {
  expect(addressOf('10300', '127.0.0.1')).toEqual({ host: '127.0.0.1', port: 10_300 })
  expect(addressOf(' 0.0.0.0:0 ', '127.0.0.1')).toEqual({ host: '0.0.0.0', port: 0 })
  expect(addressOf('[::1]:10300', '127.0.0.1')).toEqual({ host: '::1', port: 10_300 })
  expect(addressOf('voice.local:10300', '127.0.0.1')).toEqual({ host: 'voice.local', port: 10_300 })
})

test.each(['', 'x', '70000', '::1:10300', 'host:', '-1', '1.5'])('%p is not an address', (text) => {
  expect(() => addressOf(text, '127.0.0.1')).toThrow('Write it as 10300 or 0.0.0.0:10300')
})
