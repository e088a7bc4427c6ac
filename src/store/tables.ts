/**
 * The tables of records, which both databases have: what is moved from one into the other, and compared. A table comes
 * after those that it refers to.
 */
export const recordTables = [
  'accounts',
  'keys',
  'operations',
  'entries',
  'usage',
  'voices',
  'voice_aliases',
  'agents',
  'transcriptions',
  'voice_consents',
] as const

export type RecordTable = (typeof recordTables)[number]
