import { expect, test } from 'bun:test'
import { systemClock } from '../../domain/time.ts'
import { bar, progressLine } from './progress.ts'

function terminal(isTTY: boolean) {
  const written: string[] = []
  const write = (text: string | Uint8Array): boolean => written.push(String(text)) > 0
  return { written, stream: { isTTY, write } as unknown as NodeJS.WriteStream }
}

test.each([
  [0, '[>                       ]   0 %'],
  [0.5, '[============>           ]  50 %'],
  [0.999, '[=======================>]  99 %'],
  [1, '[========================] 100 %'],
  [-1, '[>                       ]   0 %'],
  [7, '[========================] 100 %'],
])('%p is %s', (share, drawn) => {
  expect(bar(share)).toBe(drawn)
})

test('draws one line and removes it', () => {
  const { written, stream } = terminal(true)
  const line = progressLine(stream)
  const nowMs = systemClock.monotonicMs()
  line.show('Sending', nowMs, 0.25)
  for (let i = 0; i < 1000; i++) line.show('Sending', nowMs, 0.5)
  line.clear()
  line.show('Listening', nowMs)
  line.clear()
  line.clear()
  expect(written.map((text) => text.replaceAll('\r\u001b[2K', '<'))).toEqual([
    `<Sending ${bar(0.25)} 0.0 s`,
    '<',
    '<Listening ... 0.0 s',
    '<',
  ])
})

test('draws nothing without a terminal', () => {
  const { written, stream } = terminal(false)
  const line = progressLine(stream)
  line.show('Sending', 0, 0.5)
  line.clear()
  expect(written).toEqual([])
})
