/**
 * The real wheels, if a folder with them is named: `pip download --no-deps` of each in `cuda.json`. Without a card, the
 * most that can be known is that the provider misses only the driver.
 */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { runCommand } from '../testing/command.ts'
import { temporaryFolder } from '../testing/folder.ts'
import { never } from '../testing/test-model.ts'
import { importCuda } from './bring.ts'
import { provider } from './cuda-set.ts'
import { readGpuCode } from './gpu-code.ts'
import { cudaRuntime, driverPath } from './installed.ts'
import { testParts } from './parts.fixture.ts'
import { cudaRelease } from './release.ts'
import { systemLibraries } from './system-libraries.ts'

const wheels = process.env.MYNA_TEST_CUDA_WHEELS ?? ''

// They are 1.2 GB from a package index. MYNA_TEST_CUDA_WHEELS names them where they were downloaded.
test.skipIf(wheels === '')(
  'the real wheels make a runtime that misses only the driver',
  async () => {
    const dataDir = temporaryFolder()
    const parts = { ...testParts(dataDir), find: systemLibraries() }
    const { manifest, path } = await importCuda(cudaRelease, [wheels], parts, never)
    expect(manifest).toMatchObject({ onnxRuntime: cudaRelease.onnxRuntime, cudaMajor: cudaRelease.cudaMajor })
    expect(manifest.files.every(({ evidence }) => evidence === 'recorded')).toBe(true)
    expect(manifest.files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)).toBe(
      cudaRelease.archives.reduce((sum, { unpackedBytes }) => sum + unpackedBytes, 0),
    )
    expect(readGpuCode(join(path, provider))).toEqual({ machine: [75, 80, 86, 89, 90, 120], portable: [] })
    const runtime = cudaRuntime(dataDir, cudaRelease.onnxRuntime)
    if ('missing' in runtime) throw new Error(runtime.missing)
    const env = { LD_LIBRARY_PATH: runtime.libraryPath }
    const program = [process.execPath, join(import.meta.dir, 'load-cuda.fixture.ts')]
    const { stdout, stderr } = await runCommand([path], { program, env })
    if (driverPath() !== null) return expect(stderr).not.toContain('cannot open shared object file')
    expect(stdout).toContain('Failed to load shared library')
    expect(stderr).toContain(`${join(path, provider)} with error: libcuda.so.1: cannot open shared object file`)
  },
  120_000,
)
