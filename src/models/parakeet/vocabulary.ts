/** The pieces that Parakeet writes with, as `vocab.txt` lists them: one a line, each with its number. */

export interface Vocabulary {
  /** By number; the last one is the blank. `▁` marks the start of a word. */
  pieces: readonly string[]
  /** The token for "nothing now". */
  blank: number
}

const blankPiece = '<blk>'

/** @throws Error when the lines are not numbered from 0, or the blank is not the last of them */
export function readVocabulary(text: string): Vocabulary {
  const pieces = text
    .split('\n')
    .filter((line) => line !== '')
    .map(readLine)
  const blank = pieces.length - 1
  if (pieces[blank] !== blankPiece) throw new Error(`vocab.txt does not end with ${blankPiece}`)
  return { pieces, blank }
}

function readLine(line: string, index: number): string {
  const [piece, number, ...more] = line.replace(/\r$/, '').split(' ')
  if (piece === undefined || number !== String(index) || more.length > 0) {
    throw new Error(`vocab.txt, line ${index + 1}: expected a piece and ${index}, found ${JSON.stringify(line)}`)
  }
  return piece
}

/** Written for every letter that is in no piece. */
export const unknownPiece = '<unk>'

/** `<unk>`, `<|nospeech|>` and the like are not text. */
export const isControl = (piece: string): boolean => /^<.+>$/.test(piece)
