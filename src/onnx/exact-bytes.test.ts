import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { multipliesBytesExactly } from './exact-bytes.ts'

const flags = /^flags\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))?.[1]?.split(' ') ?? []
const hasOwn = flags.some((flag) => ['avx512_vnni', 'avx_vnni', 'amx_int8'].includes(flag))

// On others, the answer is the library's choice: some of its ways for them are exact, too.
test.skipIf(!hasOwn)('a processor with instructions for products of bytes multiplies them exactly', async () => {
  expect(await multipliesBytesExactly()).toBe(true)
})
