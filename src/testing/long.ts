/**
 * The long form of tests: more seeds, and every pair of what is otherwise tested in turns. `bun scripts/test.ts --long`
 * runs it for everything, `TEST_LONG=1 bun test src/audio` for one folder.
 */
export const isLong = process.env.TEST_LONG === '1'

/** How many times as many seeds it has. */
export const longTimes = isLong ? 10 : 1
