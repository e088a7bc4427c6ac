/**
 * The light folding, for languages whose letters and digits must stay as they are: typographic marks become plain ones,
 * spaces become one kind of space, and characters that are never read aloud (pictures, controls, invisible characters)
 * are removed.
 */
const written: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Array.from("‘’‚‛ʼ′´`'", (char) => [char, "'"])),
  ...Object.fromEntries(Array.from('“”„‟«»‹›″「」『』', (char) => [char, '"'])),
  ...Object.fromEntries(Array.from('‐‑−', (char) => [char, '-'])),
  ...Object.fromEntries(Array.from('‒–—―', (char) => [char, ' – '])),
  '…': '... ',
  '।': '. ',
  '॥': '. ',
  '。': '. ',
  '．': '. ',
  '｡': '. ',
  '、': ', ',
  '，': ', ',
  '！': '! ',
  '？': '? ',
  '：': ': ',
  '；': '; ',
  '؟': '?',
  '،': ',',
  '؛': ';',
  '\u0085': '\n',
  '\u2028': '\n',
  '\u2029': '\n',
}

/** Signs that are part of a figure or have a name in every language. */
const kept = new Set('£€¥₹₩₽¢°×÷±≈≠≤≥√§µ•∙‣◦▪½¼¾²³·')

/** @param char one character outside ASCII @returns '' to join what is around it, ' ' to separate it */
export function keepCharacter(char: string): string {
  const known = written[char]
  if (known !== undefined) return known
  if (kept.has(char)) return char
  // Selectors of pictures and of skin tones look like letters' marks, but there is no letter.
  if (/^[\p{Cf}\p{Variation_Selector}\u{1f3fb}-\u{1f3ff}]$/u.test(char)) return ''
  if (/^[\p{L}\p{M}\p{N}]$/u.test(char)) return char
  const plain = char.normalize('NFKC')
  return /^[ -~]+$/.test(plain) ? plain : ' '
}
