import { beforeEach, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unknownSpeed } from '../../service/speeds.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { ManualClock } from '../../testing/manual-clock.ts'
import { keepSpeeds } from './kept-speeds.ts'

let folder: string
let clock: ManualClock
let errors: unknown[]
beforeEach(() => {
  folder = temporaryFolder()
  clock = new ManualClock()
  errors = []
})
const keep = (device = 'cpu') => keepSpeeds(folder, device, clock, (error) => errors.push(error))
const second = { steps: 1, soundMs: 20_000, machineMs: 1000, firstMs: 400 }

test('measured speeds are known to the next run, by device', () => {
  const first = keep()
  first.speeds.note('voice', second)
  first.close()
  const card = keep('cuda')
  expect(card.speeds.of('voice')).toEqual(unknownSpeed)
  card.speeds.note('voice', { ...second, machineMs: 100 })
  card.close()
  expect(keep().speeds.of('voice')).toEqual({ speed: 20, stepMs: 8000 })
  expect(keep('cuda').speeds.of('voice').speed).toBe(200)
  expect([errors, readdirSync(folder)]).toEqual([[], ['speeds.json']])
})

test('they are written every minute while they change, so a crash loses no more than that', () => {
  keep().speeds.note('voice', second)
  expect(readdirSync(folder)).toEqual([])
  clock.advance(60_000)
  expect(keep().speeds.of('voice').speed).toBe(20)
})

test.each(['', 'no JSON', '[]', '{"cpu":{"voice":7,"other":{"steps":-1,"soundMs":1,"machineMs":"x"}}}'])(
  'a file with %p in it is measured anew',
  (text) => {
    writeFileSync(join(folder, 'speeds.json'), text)
    expect(keep().speeds.all.size).toBe(0)
  },
)

test('a file that cannot be written does no harm', () => {
  mkdirSync(join(folder, 'speeds.json.part'))
  const kept = keep()
  kept.speeds.note('voice', second)
  kept.close()
  expect(errors.length).toBe(1)
})
