/** What the programs speak. */
export const voice = 'af_heart'

export const sentences = [
  'A long time ago there lived in a small village a woman who knew the names of all the stars.',
  'The meeting was moved to the last week of the month, because nobody could find the keys of the hall.',
  'Please put the two blue boxes on the shelf behind the door, and bring me the letter that came this morning.',
  'When the rain stopped, the children ran down to the river to see how high the water stood.',
  'It is never too late to learn how to listen, said the old teacher, and he closed his book.',
  'The engine of the boat made so much noise that we could hardly hear each other speak.',
]

/** For the title of a table. */
export function lengthOf(texts: readonly string[]): string {
  const lengths = texts.map((text) => text.length).toSorted((a, b) => a - b)
  const [least, most] = [lengths[0], lengths.at(-1)]
  return texts.length === 1 ? `a text of ${most} characters` : `${texts.length} texts of ${least} to ${most} characters`
}
