/**
 * How tests run the program: as the executable that the test command has just compiled, which starts in half the time;
 * otherwise from source, so that a single test needs no compilation.
 */
import { join } from 'node:path'

const main = join(import.meta.dir, '..', 'main.ts')
const compiled = process.env.TEST_PROGRAM ?? ''

export const ownProgram: readonly string[] = compiled === '' ? [process.execPath, main] : [compiled]
