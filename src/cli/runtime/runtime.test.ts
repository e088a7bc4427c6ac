import { beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cudaRuntime } from '../../cuda/installed.ts'
import { cudaBuild } from '../../cuda/library.fixture.ts'
import { onnxRuntimeVersion } from '../../embedded/onnx-runtime.ts'
import { zipOf } from '../../testing/archives.ts'
import { runCommand } from '../../testing/command.ts'
import { temporaryFolder } from '../../testing/folder.ts'
import { askDriver } from '../serve/gpu-probe.ts'

// Each command is a process of its own.
setDefaultTimeout(60_000)

let archive: string
beforeAll(() => {
  const { onnxRuntime, nvidia } = cudaBuild({
    code: [
      [2, 75],
      [2, 90],
    ],
  })
  archive = join(temporaryFolder(), 'onnxruntime.nupkg')
  const files = [...onnxRuntime, ...nvidia].map(([name, content]) => ({ name: `native/${name}`, content }))
  writeFileSync(archive, zipOf(files))
})

const runtime = (dataDir: string, args: readonly string[], env: Record<string, string> = {}) =>
  runCommand(['runtime', ...args, '--data', dataDir], { env })

test('import, status, doctor and rm, for people', async () => {
  const dataDir = temporaryFolder()
  const before = await runtime(dataDir, ['status'])
  expect(before.stdout).toContain(
    `Program    ONNX Runtime ${onnxRuntimeVersion}, for the CPU\nCUDA build not installed\n`,
  )
  expect(before.stdout).toMatch(/CUDA is not used: .+\.\n {2}-> .+/)

  // A driver on this machine must not affect the test.
  const imported = await runtime(dataDir, ['import', archive, '--force'])
  expect(imported.code).toBe(0)
  const place = join(dataDir, 'runtime/installed/cuda')
  expect(imported.stdout).toMatch(/^ONNX Runtime 1\.30\.0 for CUDA 13 is installed: 16 libraries, .* in .*\/cuda\n$/)
  expect(imported.stderr).toContain('No hash is published for these; they are recorded as found: libcublas.so.13,')
  expect(cudaRuntime(dataDir, '1.30.0')).toMatchObject({ dir: place })

  const { stdout } = await runtime(dataDir, ['status'])
  expect(stdout).toContain('CUDA build ONNX Runtime 1.30.0 for CUDA 13\n')
  expect(stdout).toContain(`from ${archive}`)
  expect(stdout).toContain('Cards      compute capability 7.5, 9.0\n           with driver 580 or newer\n')

  truncateSync(join(place, 'libcudart.so.13'), 10)
  expect((await runtime(dataDir, ['status'])).stdout).toMatch(
    /Fault {6}libcudart\.so\.13 has 10 bytes instead of \d+\n/,
  )

  const removed = await runtime(dataDir, ['rm', 'cuda'])
  expect(removed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^The CUDA build is removed; .* freed/) })
  expect(existsSync(place)).toBe(false)
  const again = await runtime(dataDir, ['rm', 'cuda'])
  expect(again).toMatchObject({ code: 1, stderr: 'myna: The CUDA build of ONNX Runtime is not installed.\n' })
})

test('the same for scripts', async () => {
  const dataDir = temporaryFolder()
  const imported = await runtime(dataDir, ['import', archive, '--force', '--json'])
  const events = imported.stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string; license?: unknown })
  expect(events.at(0)).toMatchObject({ event: 'planned', license: { name: expect.stringContaining('NVIDIA') } })
  expect(events.filter(({ event }) => event === 'unpacking')).toHaveLength(16)
  expect(events.at(-1)).toMatchObject({
    event: 'installed',
    onnx_runtime: '1.30.0',
    cuda_major: 13,
    files: 16,
    system: [],
  })
  const status = JSON.parse((await runtime(dataDir, ['status', '--json'])).stdout) as Record<string, unknown>
  expect(status).toMatchObject({
    onnx_runtime: onnxRuntimeVersion,
    cuda_onnx_runtime: '1.30.0',
    installed: { faults: [], gpu_code: { machine: [75, 90], portable: [] }, manifest: { cuda_major: 13 } },
  })
  expect(status.is_usable).toBe(status.trouble === null)
  const removed = JSON.parse((await runtime(dataDir, ['rm', 'cuda', '--json'])).stdout) as { freed_bytes: number }
  expect(removed.freed_bytes).toBeGreaterThan(5000)
})

test('rm also removes a half-finished pull', async () => {
  const dataDir = temporaryFolder()
  const blobs = join(dataDir, 'runtime/blobs')
  mkdirSync(blobs, { recursive: true })
  writeFileSync(join(blobs, `${'ab'.repeat(32)}.part`), 'x'.repeat(1000))
  expect((await runtime(dataDir, ['rm', 'cuda'])).stdout).toBe('The CUDA build is removed; 1.0 kB freed.\n')
  expect(readdirSync(blobs)).toEqual([])
})

test('misuse and failures have their messages', async () => {
  const dataDir = temporaryFolder()
  const words = async (args: readonly string[], env?: Record<string, string>) => {
    const { code, stderr } = await runtime(dataDir, args, env)
    expect(code).toBe(1)
    return stderr
  }
  expect(await words(['pull', 'rocm'])).toBe("myna: There is no runtime 'rocm': the only one is cuda.\n")
  expect(await words(['pull', 'cuda'], { MYNA_RUNTIME_MIRROR: 'mirror' })).toBe(
    'myna: MYNA_RUNTIME_MIRROR=mirror is not an address. Write it as https://files.pythonhosted.org\n',
  )
  expect(await words(['import', join(dataDir, 'nothing.whl')])).toContain('There is no file or folder')
  const mirror = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('', { status: 404 }) })
  const missing = await words(['pull', 'cuda', '--force'], {
    MYNA_RUNTIME_MIRROR: `http://127.0.0.1:${mirror.port}/x/`,
  })
  await mirror.stop(true)
  expect(missing).toContain('License MIT (ONNX Runtime) and NVIDIA (CUDA libraries): ')
  expect(missing).toContain('https://docs.nvidia.com/cuda/eula/')
  expect(missing).toContain('.whl (404). Is the mirror complete?')
})

test('a driver that cannot be loaded does no harm', async () => {
  const probe = await askDriver(archive, [process.execPath, join(import.meta.dir, '../../main.ts')])
  expect(probe).toMatchObject({ gpus: [], error: expect.stringMatching(/^libcuda\.so\.1 cannot be loaded: /) })
})

test('a driver that crashes the process that asks it, or never answers, is a result, too', async () => {
  const asking = (script: string) => askDriver('x', ['/bin/sh', '-c', script])
  expect(await asking('kill -SEGV $$')).toMatchObject({
    error: 'the driver crashes the process that asks it (SIGSEGV)',
  })
  expect(await asking('echo no answer')).toMatchObject({ error: 'asking the driver failed without an answer' })
})
