/**
 * Decides which model of each kind to install when a person does not know: one of each architecture and task. On a
 * processor it is the most preferred one of moderate size, because the largest ones transcribe slower than people
 * speak there; on a graphics card it is the most preferred one.
 */
import type { Card } from './card.ts'

/** Whisper small, "the best balance on a CPU", needs 1.8 GB. */
const moderateBytes = 2_000_000_000

/** @returns ids; the operator's own files are never among them */
export function recommendedIds(cards: readonly Card[], hasGraphicsCard: boolean): Set<string> {
  const kinds = Map.groupBy(
    cards.filter(({ like }) => like === undefined),
    ({ architecture, task }) => `${architecture} ${task}`,
  )
  const bestOf = (kind: readonly Card[]) => {
    const ranked = kind.toSorted((a, b) => b.preference - a.preference)
    return ranked.find(({ memoryBytes }) => hasGraphicsCard || memoryBytes <= moderateBytes) ?? ranked[0]
  }
  return new Set([...kinds.values()].flatMap((kind) => bestOf(kind)?.id ?? []))
}
