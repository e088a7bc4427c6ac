/** Amounts of money and of what is measured: a table like that of `normalisation.test.ts`. */
import { expect, test } from 'bun:test'
import { saidInOneLine } from './said.fixture.ts'

const cases: readonly (readonly [string, string])[] = [
  ['a $5 bill', 'a five dollar bill.'],
  ['a $1.5 billion deal', 'a one point five billion dollar deal.'],
  ['I paid a $5 and left', 'I paid a five dollars and left.'],
  ['the $5 he owes', 'the five dollars he owes.'],
  ['a 12 V battery', 'a twelve volt battery.'],
  ['a 5 km run of 5 km', 'a five kilometer run of five kilometers.'],
  ['a 20 °C room', 'a twenty degree Celsius room.'],
  ['£5m–£10m', 'five million to ten million pounds.'],
  ['$5M-10M', 'five million to ten million dollars.'],
  ['$20 - $30', 'twenty to thirty dollars.'],
  ['$20–$30/hr', 'twenty to thirty dollars per hour.'],
  ['$4.99/mo', 'four dollars and ninety nine cents per month.'],
  [
    '₹5,00,000 for 12,34,567',
    'five hundred thousand rupees for one million two hundred thirty four thousand five hundred sixty seven.',
  ],
  ['1 lb. ground beef', 'one pound ground beef.'],
  ['2 tbsp. oil, 3/4 tsp salt', 'two tablespoons oil, three quarters of a teaspoon salt.'],
  ['It weighs 3 lbs. We left', 'It weighs three pounds. | We left.'],
  ['6 ft. 2 in. tall', 'six feet two inches tall.'],
  ['5 ft 3 in', 'five feet three inches.'],
  ['8 in x 10 in', 'eight inches by ten inches.'],
  ['the 5 in the back', 'the five in the back.'],
  ['I was 12 in May', 'I was twelve in May.'],
  ['a 5-in-1 tool, a 6-in pan', 'a five in one tool, a six inch pan.'],
  ['a 27" screen', 'a twenty seven inch screen.'],
  ['55" and 65" TVs', "fifty five inches and sixty five inch T V's."],
  ['8.5" x 11"', 'eight point five inches by eleven inches.'],
  ['3/4" plywood', 'three quarters of an inch plywood.'],
  ['"version 5" he said', 'version five he said.'],
  ['"I have 5" is said', 'I have five is said.'],
  ['10 cm x 15 cm', 'ten centimeters by fifteen centimeters.'],
  ['6.02 x 10^23', 'six point zero two times ten to the power of twenty three.'],
  ['in 0.5 mi', 'in zero point five miles.'],
  ['1,200 sq. ft. and 3 fl oz', 'one thousand two hundred square feet and three fluid ounces.'],
  ['5 cm3 and 10 m2', 'five cubic centimeters and ten square meters.'],
  ['100 Mb/s, 5 L/min', 'one hundred megabits per second, five liters per minute.'],
  ['120 mmHg at 70 bpm', 'one hundred twenty millimeters of mercury at seventy beats per minute.'],
  ['20 degrees C', 'twenty degrees Celsius.'],
  ['12 µg/m³', 'twelve micrograms per cubic meter.'],
  ['2T tokens', 'two trillion tokens.'],
]

test.each(cases)('%s', (written, spoken) => {
  expect(saidInOneLine(written)).toBe(spoken)
})
