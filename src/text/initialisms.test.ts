/** Which words are read letter by letter: a table like that of `normalisation.test.ts`. */
import { expect, test } from 'bun:test'
import { saidInOneLine } from './said.fixture.ts'

const cases: readonly (readonly [string, string])[] = [
  ['the NYC mayor, an MBA', 'the N Y C mayor, an M B A.'],
  ['at 3 PM EST', 'at three P M E S T.'],
  ['an LED lamp', 'an L E D lamp.'],
  ['AMD, KPIs and the WHO', "A M D, K P I's and the W H O."],
  ['LA and UV', 'L A and U V.'],
  ['FYI, IMO it works', 'F Y I, I M O it works.'],
  ['HDMI, LMAO and HVAC', 'H D M I, L M A O and H V A C.'],
  ['JSON, JPEG, YAML, NASA, UNICEF, ASCII', 'JSON, JPEG, YAML, NASA, UNICEF, ASCII.'],
  ['RAM, ROM, a SIM and a PIN', 'RAM, ROM, a SIM and a PIN.'],
  ['VRAM and WLAN', 'V RAM and W LAN.'],
  ['I AM SO happy, DO NOT ask', 'I AM SO happy, DO NOT ask.'],
  ['THE BIG DOG RAN', 'THE BIG DOG RAN.'],
  ['the IT team has it', 'the I T team has it.'],
  ['FIX IT NOW', 'FIX IT NOW.'],
  ['PLEASE TELL US', 'PLEASE TELL US.'],
  ['THE US ARMY', 'THE U S ARMY.'],
  ['WHO DID IT', 'WHO DID IT.'],
  ['A BIG EMU SLEEPS', 'A BIG EMU SLEEPS.'],
  ['Btw, idk', 'B T W, I D K.'],
  ['shhhh, hmmmm', 'shhhh, hmmmm.'],
  ['a PhD, two PhDs', "a P H D, two P H D's."],
  ['5 dB and pH', 'five decibels and P H.'],
  ['IoT and SaaS', 'I O T and sass.'],
  ['XMLHttpRequest', 'X M L H T T P Request.'],
  ['parseJSONFile', 'parse JSON File.'],
  ['NaCl and HCl', 'N A C L and H C L.'],
  ['Fe2O3', 'F E two O three.'],
  ['NaN', 'NaN.'],
  ['Nf3', 'N F three.'],
  ['BREAKING WORLD NEWS', 'BREAKING WORLD NEWS.'],
  ['HIGH LOOKS DOWN, TALKS, SIGNS', 'HIGH LOOKS DOWN, TALKS, SIGNS.'],
  ['BROWN BOWL, DEBT, DEPTH, HYMN, APPS', 'BROWN BOWL, DEBT, DEPTH, HYMN, APPS.'],
  ['ASMR and ODBC', 'A S M R and O D B C.'],
  ['at 3 PM PST, psst', 'at three P M P S T, psst.'],
  ['IPv4, file.yml, by', 'I P V four, file dot Y M L, by.'],
  ['Ctrl+C, Cmd+Q', 'control plus C, command plus Q.'],
  ['the 3 Rs and five Ws, Ms Ash', "the three R's and five W's, Miz Ash."],
  ['the MAC address', 'the MAC address.'],
  ["McDonald's", "McDonald's."],
  ['SSH, ssh and shh', 'S S H, S S H and shh.'],
  ['LaTeX grew 5% YoY', 'lay tech grew five percent year over year.'],
  ['the I/O of TCP/IP', 'the I O of T C P I P.'],
  ['an A/B test', 'an A B test.'],
  ['src/API', 'S R C slash A P I.'],
]

test.each(cases)('%s', (written, spoken) => {
  expect(saidInOneLine(written)).toBe(spoken)
})
