/** Describes where chapters begin in a recording, as players show them. */
import { maxMarks } from './book.ts'

export interface Mark {
  title: string
  startMs: number
  endMs: number
}

export interface Marks {
  title: string | null
  author: string | null
  chapters: readonly Mark[]
}

/** If there are more than a file can name, neighbours share a mark. */
export function fewEnough(chapters: readonly Mark[]): Mark[] {
  const together = Math.ceil(chapters.length / maxMarks)
  if (together <= 1) return [...chapters]
  const groups = Array.from({ length: Math.ceil(chapters.length / together) }, (_, at) =>
    chapters.slice(at * together, (at + 1) * together),
  )
  return groups.flatMap((group) => {
    const [first, last] = [group[0], group.at(-1)]
    return first === undefined || last === undefined ? [] : [{ ...first, endMs: last.endMs }]
  })
}
