/** Codes, ratings and other figures that are no amounts: a table like that of `normalisation.test.ts`. */
import { expect, test } from 'bun:test'
import { saidInOneLine } from './said.fixture.ts'

const cases: readonly (readonly [string, string])[] = [
  ['Your verification code is 482913.', 'Your verification code is four eight two nine one three.'],
  ['PIN: 1234, zip code 90210', 'PIN: one two three four, zip code nine zero two one zero.'],
  ['order number 10457', 'order number one zero four five seven.'],
  ['order 2000 units', 'order two thousand units.'],
  ['ZIP 02134-1021', 'ZIP zero two one three four one zero two one.'],
  ['area code 415', 'area code four one five.'],
  ['ISBN 978-3-16-148410-0', 'I S B N nine seven eight three one six one four eight four one zero zero.'],
  ['4111 1111 1111 1111', 'four one one one one one one one one one one one one one one one.'],
  ['My number is 4155552671.', 'My number is four one five five five five two six seven one.'],
  ['3000000000', 'three billion.'],
  ['call 1-800-FLOWERS', 'call one eight hundred FLOWERS.'],
  ['dial 911, call 311', 'dial nine one one, call three one one.'],
  ['a Porsche 911, 311 people', 'a Porsche nine hundred eleven, three hundred eleven people.'],
  ['Room 101, Flight UA 237', 'Room one oh one, Flight U A two thirty seven.'],
  ['Highway 101 and I-280', 'Highway one oh one and I two eighty.'],
  ['a Boeing 737-800', 'a Boeing seven thirty seven eight hundred.'],
  ['a 404 error, error 500', 'a four oh four error, error five hundred.'],
  ['404 people', 'four hundred four people.'],
  ['1e-5 and 3.2E8', 'one times ten to the power of minus five and three point two times ten to the power of eight.'],
  ['rated 4.5/5', 'rated four point five out of five.'],
  ['8/10, would buy', 'eight out of ten, would buy.'],
  ['7/10 of a mile', 'seven tenths of a mile.'],
  ['3/5 stars, 3/5 of it', 'three out of five stars, three fifths of it.'],
  ['Page 1/10', 'Page one of ten.'],
  ['a 50-50 chance', 'a fifty fifty chance.'],
  ['They won 3-2', 'They won three to two.'],
  ['Genesis 1:1-3 and John 3:16', 'Genesis one one to three and John three sixteen.'],
  ['1 Corinthians 13:4', 'First Corinthians thirteen four.'],
  ["1's and 0's", 'ones and zeros.'],
  ['MP3s and F-16s', 'M P threes and F sixteens.'],
  ['the mid-1980s', 'the mid nineteen eighties.'],
  ['AES-256, an F-150, the H100, A380', 'A E S two fifty six, an F one fifty, the H one hundred, A three eighty.'],
  ['RTX 3080', 'R T X thirty eighty.'],
  ['Meeting ID: 812 3456 7890', 'Meeting I D: eight one two three four five six seven eight nine zero.'],
  ['Invoice #INV-7', 'Invoice number I N V seven.'],
]

test.each(cases)('%s', (written, spoken) => {
  expect(saidInOneLine(written)).toBe(spoken)
})
