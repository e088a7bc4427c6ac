/** The counts that the test command prints at the end are the runner's, and a crash never counts as a success. */
import { expect, test } from 'bun:test'
import { countTests } from './test.ts'

const closing = (passed: number, failed: number): string =>
  `(pass) x\n\n ${passed} pass\n 1 skip\n ${failed} fail\n 9 expect() calls\nRan 12 tests across 3 files. [1.00s]\n`

test.each([
  ['all passed', 0, closing(11, 0), { passed: 11, failed: 0 }],
  ['some failed', 1, closing(9, 2), { passed: 9, failed: 2 }],
  ['an error that no test owns', 1, closing(11, 0), { passed: 11, failed: 1 }],
  ['nothing ran', 0, 'No tests found!\n', { passed: 0, failed: 1 }],
  ['a crash before the counts', null, '(pass) x\n', { passed: 0, failed: 1 }],
  ['a crash after the counts', null, closing(11, 0), { passed: 11, failed: 1 }],
  [
    'with colours',
    0,
    closing(4, 0).replace(' 4 pass', '\u001b[0m\u001b[32m 4 pass\u001b[0m'),
    { passed: 4, failed: 0 },
  ],
])('%s', (_case, exitCode, stderr, counts) => {
  expect(countTests({ exitCode, stderr })).toEqual(counts)
})

test('a test that prints like the runner does not change the counts', () => {
  const stderr = ` 99 pass\n 99 fail\n${closing(3, 0)}`
  expect(countTests({ exitCode: 0, stderr })).toEqual({ passed: 3, failed: 0 })
})
