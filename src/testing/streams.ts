/** What tests do with an answer that is still coming. */

/** @returns whether it was broken off before its end */
export async function breaks(reader: { read(): Promise<{ done: boolean }> }): Promise<boolean> {
  try {
    while (!(await reader.read()).done);
    return false
  } catch {
    return true
  }
}

/** The data of server-sent events, but for the mark at the end. */
export const eventsOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>)
