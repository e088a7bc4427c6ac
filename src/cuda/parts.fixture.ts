/**
 * The parts that tests need to change the CUDA runtime of a data folder: no system libraries, no driver, enough space.
 */
import { tryFileLock } from '../store/lock.ts'
import { testImport, type TestImport } from '../testing/test-model.ts'
import type { ImportParts } from './bring.ts'
import { runtimeFolder } from './installed.ts'

export type TestParts = ImportParts & TestImport

export function testParts(dataDir: string): TestParts {
  const folder = runtimeFolder(dataDir)
  const lock = () => tryFileLock(`${folder.path}/install.lock`)
  return { ...testImport(dataDir), folder, lock, find: () => null, driver: null }
}
