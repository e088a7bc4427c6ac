/** Markup is not read aloud, and plain text that resembles markup survives. `¶` marks the end of a paragraph. */
import { expect, test } from 'bun:test'
import { saidOf } from './said.fixture.ts'

const read = (input: string): string =>
  saidOf(input)
    .map(({ text, beforeParagraph }) => text + (beforeParagraph ? '¶' : ''))
    .join(' ')

const cases: readonly (readonly [string, string])[] = [
  ['# Title\n\nText.', 'Title.¶ Text.'],
  ['# Title #\nText', 'Title.¶ Text.'],
  ['Title\n=====\nText', 'Title.¶ Text.'],
  ['#1 choice', 'number one choice.'],
  ['Some **bold** and *slanted* and __strong__ and ~~old~~ text', 'Some bold and slanted and strong and old text.'],
  ['un*frigging*believable **b**old', 'unfriggingbelievable bold.'],
  ['Use `npm install` and ``a ` b``', 'Use N P M install and a b.'],
  ['`<div>` is a tag', 'div is a tag.'],
  ['One `unclosed tick', 'One unclosed tick.'],
  ['Before\n```js\nconst a = 1\n```\nAfter', 'Before.¶ After.'],
  ['Before\n~~~\n```\ncode\n~~~\nAfter', 'Before.¶ After.'],
  ['```\nnever closed\n\nstill code', ''],
  ['A [link](http://x.com "title") and [another][1].\n\n[1]: http://y.com', 'A link and another.'],
  ['![alt text](a.png) [![badge](b.svg)](c)', 'alt text badge.'],
  ['<https://example.com> <jo@example.com>', 'example dot com jo at example dot com.'],
  ['[Bob]: Hello there', 'Bob: Hello there.'],
  ['A note[^1].\n\n[^1]: The note.', 'A note.¶ The note.'],
  ['- one\n- two\n  goes on\n* three', 'one. two goes on. three.'],
  ['1. First\n2. Second', 'one, First. two, Second.'],
  ['It was\n1984. A book', 'It was nineteen eighty four. A book.'],
  ['- [ ] open\n- [x] done', 'open. done.'],
  ['| a | b |\n|---|:-:|\n| 1 | 2 |\n\nend', 'a, b. one, two.¶ end.'],
  ['a | b\n--- | ---\nc | d', 'a, b. c, d.'],
  ['> quoted\n> more\n\nplain', 'quoted more.¶ plain.'],
  ['above\n\n---\n\nbelow\n* * *\nend', 'above.¶ below.¶ end.'],
  ['<p>One</p><p>Two &amp; three<br>four</p>', 'One.¶ Two and three. four.'],
  ['<b>H</b>ello <img src="x" alt="a cat"> &copy; 2024 &#233;t&#xe9;', 'Hello a cat copyright twenty twenty four ete.'],
  ['x <!-- hidden --> y\n\n<!-- long\n\nhidden -->\nz', 'x y.¶ z.'],
  ['a<script>alert("1")</script>b\n\n<style>\np { x }\n</style>\nc', 'ab.¶ c.'],
  ['<speak>Hi <break time="1s"/> there</speak>', 'Hi, there.'],
  ['a < b and c > d', 'a less than b and c greater than d.'],
  ['List<String> and <your name>', 'List String and your name.'],
  ['AT&T &unknown; R&D', 'A T and T and unknown; R and D.'],
  ['2 * 3 * 4', 'two times three times four.'],
  ['2*3*4', 'two times three times four.'],
  ['snake_case_name __init__', 'snake case name init.'],
  ['\\*not slanted\\*', 'not slanted.'],
  [
    'I wrote a long line of prose that somebody has wrapped at\nsixty columns, and the\nrest follows here.',
    'I wrote a long line of prose that somebody has wrapped at sixty columns, and the rest follows here.',
  ],
  ['Roses are red\nViolets are blue,\nSugar is sweet', 'Roses are red. Violets are blue, Sugar is sweet.'],
  ['one\r\n\r\ntwo\rthree', 'one.¶ two three.'],
  ['Hi 👋🏽 there 👨‍👩‍👧 ❤️ ok', 'Hi there ok.'],
  ['a\u200bb\u0000c\u00add \ufeffe\u0301', 'abcd e.'],
  ['lone \ud800 surrogate \udc00.', 'lone surrogate.'],
  ['1️⃣ first 🇫🇷 ①', 'one first one.'],
  ['(Well!) "Stop!" he said. "Go." She went?! Yes', 'Well! Stop! he said. Go. She went? Yes.'],
  [
    'He paid $3.50. Then e.g. Mr. X came at 3.14 p.m. He left.',
    'He paid three dollars and fifty cents. Then for example Mister X came at three point one four P M. He left.',
  ],
  ['Wait... what? And then... Nothing', 'Wait, what? And then. Nothing.'],
  ['The end.Next one', 'The end. Next one.'],
]

test.each(cases)('%j', (written, spoken) => expect(read(written)).toBe(spoken))
