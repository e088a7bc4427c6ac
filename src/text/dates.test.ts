/** Dates, times and years: a table like that of `normalisation.test.ts`. */
import { expect, test } from 'bun:test'
import { saidInOneLine } from './said.fixture.ts'

const cases: readonly (readonly [string, string])[] = [
  ['Open Mon-Fri, 9am-5pm', 'Open Monday to Friday, nine A M to five P M.'],
  ['Mon–Fri 9:00 AM – 5:30 PM', 'Monday to Friday nine A M to five thirty P M.'],
  ['7 a.m.-9 a.m. daily', 'seven A M to nine A M daily.'],
  ['10:00-11:30, 10:30-11', "ten o'clock to eleven thirty, ten thirty to eleven."],
  ['9am–noon', 'nine A M to noon.'],
  ['See you Mon, Mar 3', 'See you Monday, March third.'],
  ['Sat 5 Oct, 7 pm', 'Saturday the fifth of October, seven P M.'],
  ['Mon, Wed & Fri', 'Monday, Wednesday and Friday.'],
  ['on Wed we wed', 'on Wednesday we wed.'],
  ['He Sat down. The Sun shone', 'He Sat down. | The Sun shone.'],
  ['Thurs at 5', 'Thursday at five.'],
  ['Dec. 24th–26th', 'December twenty fourth to twenty sixth.'],
  ['June 3-5, 2024', 'June third to fifth twenty twenty four.'],
  ['June 3 - July 5', 'June third to July fifth.'],
  ['24-26 December', 'the twenty fourth to the twenty sixth of December.'],
  ['Jan-Mar 2024', 'January to March twenty twenty four.'],
  ['Dec 2024, in Aug', 'December twenty twenty four, in August.'],
  ['Jan is here', 'Jan is here.'],
  ['2024/03/15', 'March fifteenth twenty twenty four.'],
  ['on 2024-03-15 14:05:09', 'on March fifteenth twenty twenty four at fourteen oh five and nine seconds.'],
  ['He lived from 1685 to 1750', 'He lived from sixteen eighty five to seventeen fifty.'],
  ['Bach (1685–1750)', 'Bach, sixteen eighty five to seventeen fifty.'],
  ['Darwin (1859) wrote', 'Darwin, eighteen fifty nine, wrote.'],
  ['between 1750 and 1850', 'between seventeen fifty and eighteen fifty.'],
  ['the War of 1812', 'the War of eighteen twelve.'],
  ['ca. 1850, est. 1871', 'circa eighteen fifty, established eighteen seventy one.'],
  ['1200 BC', 'twelve hundred B C.'],
  ['a total of 1234', 'a total of one thousand two hundred thirty four.'],
  ['FY2025', 'F Y twenty twenty five.'],
  ['10:30 UTC+2, GMT-5', 'ten thirty U T C plus two, G M T minus five.'],
  ['14:00 GMT', 'fourteen hundred G M T.'],
  ['a 2h 30m flight', 'a two hour thirty minute flight.'],
  ['1h30, 5m 30s, 1d 4h', 'one hour thirty minutes, five minutes thirty seconds, one day four hours.'],
  ['9 a.m. - 5 p.m. EST', 'nine A M to five P M E S T.'],
  ["the 1980s' music", 'the nineteen eighties music.'],
  ['on Sat., Jan. 6', 'on Saturday, January sixth.'],
]

test.each(cases)('%s', (written, spoken) => {
  expect(saidInOneLine(written)).toBe(spoken)
})
