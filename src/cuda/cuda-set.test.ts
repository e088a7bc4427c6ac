import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../testing/folder.ts'
import { examineSet, packageOf, requireComplete } from './cuda-set.ts'
import { type ElfFacts, readElf } from './elf.ts'
import { cudaBuild, libraryOf } from './library.fixture.ts'

const folder = temporaryFolder()
const nowhere = () => null

/** As unpacked from an archive: each file under the name that the library itself declares. */
function facts(files: ReadonlyMap<string, Uint8Array>): Map<string, ElfFacts> {
  return new Map(
    [...files].map(([name, content]) => {
      const path = join(folder, name)
      writeFileSync(path, content)
      const found = readElf(path)
      return [found.soname ?? name, found]
    }),
  )
}

const build = cudaBuild()
const all = new Map([...build.onnxRuntime, ...build.nvidia])
const without = (...names: string[]) => facts(new Map([...all].filter(([name]) => !names.includes(name))))

test('a complete set lists its members and CUDA version; driver and C library never count as missing', () => {
  const more = new Map([...all, ['libcurand.so.10', libraryOf({ soname: 'libcurand.so.10' })]])
  const set = examineSet(facts(more), nowhere)
  expect(set.missing).toEqual([])
  expect(set.cudaMajor).toBe(13)
  expect(set.files).toEqual([...without().keys()].sort())
  requireComplete(set, 13)
})

test('later parts of cuDNN are kept when they appear', () => {
  const name = 'libcudnn_engines_tensor_ir.so.9'
  expect(examineSet(facts(new Map([...all, [name, libraryOf({ soname: name })]])), nowhere).files).toContain(name)
})

test('libraries of the system do not count as missing, but the parts of ONNX Runtime must be in the set', () => {
  const names = ['libcublas.so.13', 'libcudnn.so.9', 'libonnxruntime.so.1.30.0']
  const set = examineSet(without(...names, 'libcudnn_ops.so.9'), (name) => `/usr/lib/${name}`)
  expect(set.system).toEqual([
    { name: 'libcudnn.so.9', path: '/usr/lib/libcudnn.so.9' },
    { name: 'libcublas.so.13', path: '/usr/lib/libcublas.so.13' },
  ])
  expect(set.missing).toEqual([{ name: 'libonnxruntime.so.1', neededBy: 'Myna' }])
})

test('a missing library is reported with its name, the library that needs it, and how to get it', () => {
  const set = examineSet(without('libcublasLt.so.13', 'libcudnn_ops.so.9', 'libnvrtc-builtins.so.13.0'), nowhere)
  expect(set.missing).toEqual([
    { name: 'libcublasLt.so.13', neededBy: 'libcublas.so.13' },
    { name: 'libcudnn_ops.so.9', neededBy: 'libcudnn.so.9' },
    { name: 'libnvrtc-builtins.so.13.x', neededBy: 'libnvrtc.so.13' },
  ])
  expect(() => requireComplete(set, 13)).toThrow(
    '3 libraries are missing for CUDA 13: libcublasLt.so.13 (for libcublas.so.13), libcudnn_ops.so.9 (for ' +
      'libcudnn.so.9), libnvrtc-builtins.so.13.x (for libnvrtc.so.13). To fix it: myna runtime pull cuda installs ' +
      'all of them; or pip download --no-deps -d cuda nvidia-cublas nvidia-cudnn-cu13 nvidia-cuda-nvrtc downloads ' +
      'them: import the folder cuda in the same command.',
  )
})

test('another CUDA version has other packages, and pull does not fetch them', () => {
  const set = examineSet(facts(cudaBuild({ cudaMajor: 12 }).onnxRuntime), nowhere)
  expect(set.cudaMajor).toBe(12)
  expect(() => requireComplete(set, 13)).toThrow(
    '4 libraries are missing for CUDA 12: libcublas.so.12 (for libonnxruntime_providers_cuda.so), libcudart.so.12 ' +
      '(for libonnxruntime_providers_cuda.so), libcudnn.so.9 (for libonnxruntime_providers_cuda.so), libnvrtc.so.12 ' +
      '(for libcudnn.so.9). To fix it: pip download --no-deps -d cuda nvidia-cublas-cu12 nvidia-cuda-runtime-cu12 ' +
      'nvidia-cudnn-cu12 nvidia-cuda-nvrtc-cu12 downloads them: import the folder cuda in the same command.',
  )
  expect(packageOf('libz.so.1', 12)).toBeNull()
})

test('without a provider, or with one for no known CUDA, there is nothing to examine', () => {
  const provider = 'libonnxruntime_providers_cuda.so'
  expect(() => examineSet(without(provider), nowhere)).toThrow(`There is no ${provider}: give a CUDA build`)
  const other = facts(new Map([[provider, libraryOf({ needed: ['libamdhip64.so.6'] })]]))
  expect(() => examineSet(other, nowhere)).toThrow('so it is not for CUDA')
})
