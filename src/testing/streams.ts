/** Helpers for reading an answer that is still arriving. */

/** @returns whether it was aborted before its end */
export async function breaks(reader: { read(): Promise<{ done: boolean }> }): Promise<boolean> {
  try {
    while (!(await reader.read()).done);
    return false
  } catch {
    return true
  }
}

/** The data of server-sent events, without the final mark. */
export const eventsOf = (text: string): Record<string, unknown>[] =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>)
