/** Computes what work costs, in millionths of a US dollar. Whole numbers throughout: no sum can drift. */
/** Length as the service counts it: Unicode code points, so that an emoji is one character and not two. */
export function countChars(text: string): number {
  let count = 0
  for (const _ of text) count++
  return count
}

export const speechPriceMicros = (inputChars: number, microsPerChar: number): number => inputChars * microsPerChar
