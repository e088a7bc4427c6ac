/** Prose in the width of the terminal. The sources break it where an editor does. */
import { Help } from 'commander'

/** @param text lines that begin with a blank, such as examples and lists, stay as they are */
export function reflow(text: string, width: number): string {
  return text.replace(/^\S.*(?:\n\S.*)*/gm, (lines) => new Help().boxWrap(lines.replaceAll('\n', ' '), width))
}
