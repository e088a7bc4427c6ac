/** Addresses, titles and ranks: a table like that of `normalisation.test.ts`. */
import { expect, test } from 'bun:test'
import { saidInOneLine } from './said.fixture.ts'

const cases: readonly (readonly [string, string])[] = [
  [
    '123 Main St, Springfield, IL 62704',
    'one hundred twenty three Main Street, Springfield, Illinois six two seven zero four.',
  ],
  ['5th Ave and W 42nd St', 'fifth Avenue and West forty second Street.'],
  ['1600 Pennsylvania Ave NW', 'one thousand six hundred Pennsylvania Avenue Northwest.'],
  ['N. Main St. is long', 'North Main Street is long.'],
  ['12 Oak Ct, 7 Elm Dr', 'twelve Oak Court, seven Elm Drive.'],
  ['Take Hwy. 61 and Hwy 5', 'Take Highway sixty one and Highway five.'],
  ['St Louis, St John and Mt Everest', 'Saint Louis, Saint John and Mount Everest.'],
  ['St. Louis, MO', 'Saint Louis, Missouri.'],
  ['from Boston, MA to Austin, TX.', 'from Boston, Massachusetts to Austin, Texas.'],
  ['Portland, OR', 'Portland, Oregon.'],
  ['Tulsa, OK 74101', 'Tulsa, Oklahoma seven four one zero one.'],
  ['Fine, OK, do it. Anna, HI there', 'Fine, OK, do it. | Anna, HI there.'],
  ['Wind NW at 10 mph', 'Wind Northwest at ten miles per hour.'],
  ['Roe v. Wade', 'Roe versus Wade.'],
  ['min. 5, max. 10', 'minimum five, maximum ten.'],
  ['M&Ms', "M and M's."],
  ['Mr./Mrs. Smith', 'Mister slash Missus Smith.'],
  ['Acme Ltd and Lt Dan', 'Acme Limited and Lieutenant Dan.'],
  ['WWII and WWI', 'World War two and World War one.'],
  ["Elizabeth II's reign", "Elizabeth the second's reign."],
  ['Act III, Scene ii; the vi editor', 'Act three, Scene two; the vi editor.'],
  ['the XX century, World Wars I and II', 'the twentieth century, World Wars one and two.'],
  ['MCMXCIX, MMXXIV, CIVIC, MILD', 'nineteen ninety nine, twenty twenty four, CIVIC, MILD.'],
  ['Wind: 15 km/h NW', 'Wind: fifteen kilometers per hour Northwest.'],
  ['Smith et al. (2020) say', 'Smith et al, twenty twenty, say.'],
  ['two Ph.D.s and M.D.s', "two P H D's and M D's."],
  ['s/he has a/c', 'she or he has A C.'],
  ['E. coli, T. rex', 'E coli, T rex.'],
  ['A. one', 'A. | one.'],
  ['NW wind, the NE corner', 'Northwest wind, the Northeast corner.'],
  ['pg. 45, Lvl. 5', 'page forty five, level five.'],
  ['Dr. Jones, MD, of Baltimore, MD', 'Doctor Jones, M D, of Baltimore, Maryland.'],
  ['WW2 and WW3', 'World War two and W W three.'],
  ['Apt 4, ext 204, an apt 4', 'apartment four, extension two hundred four, an apt four.'],
  ['Ep. 12, Pt. 2', 'episode twelve, part two.'],
  ['Malcolm X', 'Malcolm X.'],
  ['types I, II and III', 'types one, two and three.'],
  ['he/she said yes/no b/c', 'he or she said yes or no because.'],
  ['Vol. III, Ch. IV', 'volume three, chapter four.'],
  ['Charles I of England, King James I was', 'Charles the first of England, King James the first was.'],
  ['Then Charles I think', 'Then Charles I think.'],
  ['Pls. confirm, Attn: Bob, Qty: 2', 'please confirm, attention: Bob, quantity: two.'],
]

test.each(cases)('%s', (written, spoken) => {
  expect(saidInOneLine(written)).toBe(spoken)
})
