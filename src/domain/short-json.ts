/**
 * Whether a value that a client sent is short as JSON. Asked of the text alone, the answer may come late: for a value
 * that is nested some ten thousand times, `JSON.stringify` needs seconds to give up, and everything else waits.
 */

/** More than any settings that mean something. */
const maxDepth = 32

export function isShortJson(value: unknown, maxChars: number): boolean {
  let level = [value]
  for (let depth = 0, count = 0; level.length > 0; depth++) {
    count += level.length
    // Each value has a character of its own at least.
    if (depth > maxDepth || count > maxChars) return false
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []))
  }
  return (JSON.stringify(value) ?? '').length <= maxChars
}
