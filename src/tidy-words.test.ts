/**
 * Holds the English of comments and of the names of tests. A phrase that reads as translated is on the list once no
 * file has it any more, so that it does not come back. Each offender is named with its line.
 */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dir, '..')
const paths = [...new Bun.Glob('{src,build,scripts}/**/*.{ts,tsx,py,sh,sql,css}').scanSync({ cwd: root })]
  .filter((path) => !path.startsWith('build/out/'))
  .sort()

const translated = [
  /\b(whoever|(no|some|any|every)body|(?<!`)mend(s|ed|ing)?|read over|(breaks?|broken?) off|so much of)\b/i,
  /\b(under way|wr(ites?|itten|ote) down|(go|goes|gone|went) on|the books|lies (in|at|on|there))\b/i,
  /\b((is|are|was|were|be|been) told|for ever|(not|can) be had|(is|are) no part of|(is|are) no trouble)\b/i,
]
const isProse = (path: string, line: string): boolean =>
  /^\s*(\/\/|\/?\*|# )/.test(line) ||
  (path.endsWith('.sql') && line.trimStart().startsWith('--')) ||
  /^\s*(test|describe|\]\))[.(].*['"`]/.test(line)

test('comments and the names of tests are in plain English', () => {
  const offenders = paths.flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .flatMap((line, at) =>
        isProse(path, line) && translated.some((phrases) => phrases.test(line)) ? [`${path}:${at + 1} ${line}`] : [],
      ),
  )
  expect(offenders).toEqual([])
})
