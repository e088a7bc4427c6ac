/**
 * Words that are written alike, whose meaning the words beside them tell and their part of speech does not: lead pipes
 * and lead singers, a live show and a live wire, the bow of a ship.
 */
import { type Phone, parsePhones } from './phones.ts'

interface Sense {
  spoken: string
  /** Any of these right before it, right behind it, or at most `reach` words away. */
  before?: string
  after?: string
  near?: string
  /** Not if one of these is that near. */
  unless?: string
}

const written: Readonly<Record<string, readonly Sense[]>> = {
  axes: [
    {
      spoken: 'AE1 K S IY2 Z',
      near: 'x y z axis graph plot chart vertical horizontal coordinate rotation symmetry label labels',
      unless: 'wood saw saws swords',
    },
  ],
  bass: [
    {
      spoken: 'B AE1 S',
      near: 'fish fishing fished caught catch lake river largemouth sea striped',
      unless: 'guitar player music drum drums line clef boost treble note',
    },
  ],
  bow: [
    { spoken: 'B AW1', near: 'ship boat vessel stern deck', unless: 'arrow arrows' },
    { spoken: 'B AW1', after: 'down' },
    { spoken: 'B AW1', near: 'take takes took final', unless: 'arrow arrows tie ties ribbon' },
  ],
  close: [{ spoken: 'K L OW1 Z', after: 'of' }],
  dove: [{ spoken: 'D OW1 V', after: 'into deep headfirst straight' }],
  elaborate: [{ spoken: 'IH0 L AE1 B ER0 EY2 T', after: 'on upon further' }],
  lead: [
    {
      spoken: 'L EH1 D',
      after:
        'pipe pipes paint paints poisoning acid exposure bullet bullets ore contamination crystal levels weights apron',
    },
    { spoken: 'L EH1 D', near: 'metal metals pipes pipe mercury copper zinc toxic iron tin', unless: 'team singer' },
    { spoken: 'L EH1 D', before: 'contains contain containing molten traces' },
  ],
  live: [
    {
      spoken: 'L AY1 V',
      after:
        'music concert concerts show shows stream streams streaming broadcast broadcasts audience audiences chat ' +
        'coverage feed feeds performance performances video videos tv television event events wire wires ammunition ' +
        'demo demos recording album band bands session sessions updates update webinar webinars',
    },
    {
      spoken: 'L AY1 V',
      before: 'go goes going went gone broadcast streamed streaming recorded perform performed performing aired',
    },
    { spoken: 'L AY1 V', before: 'it them him', near: 'watch see hear stream catch listen', unless: 'let' },
  ],
  minute: [
    {
      spoken: 'M AY0 N UW1 T',
      after: 'detail details amount amounts quantity quantities particles traces differences',
    },
  ],
  tear: [
    { spoken: 'T IH1 R', near: 'eye eyes cheek cheeks cry crying cried' },
    { spoken: 'T EH1 R', after: 'in down off out apart through up' },
    { spoken: 'T EH1 R', near: 'wear' },
  ],
  wound: [{ spoken: 'W AW1 N D', after: 'up down around through its his tightly back' }],
}

const split = (words: string | undefined): ReadonlySet<string> | null =>
  words === undefined ? null : new Set(words.split(' '))
const senses = new Map(
  Object.entries(written).map(([word, all]) => [
    word,
    all.map(({ spoken, before, after, near, unless }) => ({
      phones: parsePhones(spoken),
      before: split(before),
      after: split(after),
      near: split(near),
      unless: split(unless),
    })),
  ]),
)

const reach = 6

/** @param words of the sentence, lower case @returns null if nothing around the word decides */
export function collocated(words: readonly string[], at: number): readonly Phone[] | null {
  const around = words.slice(Math.max(0, at - reach), at + reach + 1)
  const found = senses
    .get(words[at] as string)
    ?.find(
      ({ before, after, near, unless }) =>
        (before === null || before.has(words[at - 1] ?? '')) &&
        (after === null || after.has(words[at + 1] ?? '')) &&
        (near === null || around.some((word) => near.has(word))) &&
        !(unless !== null && around.some((word) => unless.has(word))),
    )
  return found?.phones ?? null
}
