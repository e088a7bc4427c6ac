import { expect, test } from 'bun:test'
import { loadCompare } from './misheard.ts'

const compare = await loadCompare()
const errors = (said: string, heard: string) => compare(said, heard).errors.map((one) => `${one.said} > ${one.heard}`)

test('what is only written in another way is no error', () => {
  expect(errors('A gray heron flew away.', 'a grey heron flew a way')).toEqual([])
  expect(errors('It leaves in eleven minutes, at 7:45.', 'It leaves in 11 minutes at seven forty-five')).toEqual([])
  expect(errors('Anybody upstairs?', 'Any body up stairs')).toEqual([])
  expect(errors('He paid $18, or 15 percent.', 'he paid eighteen dollars or 15%.')).toEqual([])
})

test('a word that sounds otherwise is one error, and so is one that is missing or too many', () => {
  expect(errors('Tied to the pier below the inn.', 'Tied to the pier below the end.')).toEqual(['inn > end'])
  expect(errors('An early frost had killed them.', 'An early frosted kiln them')).toHaveLength(3)
  expect(errors('Say it again.', 'Say again')).toEqual(['it > '])
  expect(errors('Say it.', 'Say it now, please')).toEqual([' > now', ' > please'])
  expect(errors('It is 38 degrees.', '')).toHaveLength(5)
})

test('words are counted as they are spoken', () => {
  expect(compare('At 38 degrees.', '').words).toBe(4)
})
