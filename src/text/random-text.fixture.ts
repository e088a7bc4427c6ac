/** Seeded mixtures of everything that can upset a text normaliser. */
import type { Seeded } from '../testing/seeded.ts'

// prettier-ignore
const scraps = [
  'a', 'word', 'Hello', 'USA', 'x', "don't", 'Dr.', 'e.g.', 'etc.', 'J.', 'U.S.', 'VIII', 'March', 'getUserName',
  'café', 'ß', '1', '12', '1,234.5', '1999', '3.14', '12345678901234567890', '1/2', '3-5', '$5.20', '€', '£3m', '50%',
  '3:30pm', '007', '2024-03-15', '192.168.0.1', 'v1.2.3', '555-1234', '(555) 123-4567', '10kg', '20°C', 'm²',
  '5 km/h', '1st', '1990s', 'http://a.b/c?d', 'www.x.org', 'jo@x.com', '#tag', '@me', 'C++', 'a_b', 'AT&T', '&amp;',
  '&#128512;', '&eacute;', '&', '**', '*', '_', '`', '```', '\n```\n', '~~', '[', ']', '](', ')', '![', '[^1]', '<b>',
  '</b>', '<', '>', '<!--', '-->', '|', '\n', '\n\n', '\r\n', '\n# ', '\n- ', '\n1. ', '\n> ', '\n| ', '\n|---|\n',
  '\n---\n', '\\', '\t', '\u0000', '\u0001', '\u00a0', '.', '!', '?', '...', '…', ',', ';', ':', '"', '“', "'", '’',
  '-', '--', '—', '–', '(', '/', '+', '=', '%', '~', '^2', '×', '©', '👋', '👨‍👩‍👧', '❤️', '🇫🇷', '中文', 'Привет',
  'π', 'Ελλάδα', '\ud800', '\udc00', '\u200b', 'e\u0301', '½', '²', '①', '𝐀', 'ＡＢ',
  'pneumonoultramicroscopicsilicovolcanoconiosis', 'a'.repeat(90), '1'.repeat(50), '9'.repeat(15), '$1,234,567.89',
] as const

/** @param count how many scraps, joined with and without spaces */
export function randomText(random: Seeded, count: number): string {
  let text = ''
  for (let i = 0; i < count; i++) text += random.pick(scraps) + (random.chance(0.5) ? ' ' : '')
  return text
}
