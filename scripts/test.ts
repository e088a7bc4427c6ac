/**
 * The test command: format, linter, types, README, the executable (tests of the command line run it), then every test.
 * In every case the last line is `N passed, N failed` with the real counts; the format, the linter, the types (the
 * console's too), the README's tables and the compilation count as one test each. Exit code 0 only when there are no
 * failures.
 *
 * With `--long` the tests take their long form: ten times as many seeds, and every pair of what otherwise takes turns.
 * With `--quick` it runs the tests that finish within a minute on two idle cores, and prints what it leaves out.
 */
import { join } from 'node:path'
import { executable } from '../build/compile.ts'

const root = join(import.meta.dir, '..')
/**
 * How long each test file takes, in ms: the slowest start first, so that none runs alone at the end. A file that is not
 * listed starts before them. To measure again, run `bun test` with the options below and `--update-timings`.
 */
const timings = '.ci/timings.json'
/** Test files at the same time. Many wait for processes and clocks: on two cores, five leave no core idle. */
const testProcesses = 5
/** What can be tested without the executable and without a model: beginnings of paths. */
const quickPaths = ['domain/', 'text/', 'book/', 'phonemes/', 'service/', 'http/', 'tidy', 'config'].map(
  (path) => `src/${path}`,
)
/** The slow half of those: they decode real recordings in threads. */
const quickIgnores = ['**/http/transcription/**', '**/http/voices/{clone,ending}*']
/** A runner that hangs is ended and counts as failed. A busy machine takes several times as long as an idle one. */
const deadlineMs = 45 * 60_000
const isLong = process.argv.includes('--long')
/** How long output may still arrive once the process itself has ended. */
const lastWordsMs = 2000

interface Counts {
  passed: number
  failed: number
}

interface Ended {
  /** null: ended by a signal. */
  exitCode: number | null
  stderr: string
}

/** Runs this same Bun, shows its output as it arrives, and keeps its stderr, where `bun test` prints the counts. */
async function bun(args: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  console.log(`$ bun ${args.join(' ')}`)
  const child = Bun.spawn([process.execPath, ...args], {
    cwd: root,
    // By default, ONNX Runtime would send its maker telemetry about the tests.
    env: { ...process.env, ORT_DISABLE_TELEMETRY: '1', ...env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
  })
  let stderr = ''
  const keep = (text: string) => {
    stderr += text
  }
  const shown = Promise.all([show(child.stdout, process.stdout), show(child.stderr, process.stderr, keep)])
  // A process that the child left behind may hold the pipes open forever.
  await Promise.race([shown, child.exited.then(() => Bun.sleep(lastWordsMs))])
  await child.exited
  return { exitCode: child.exitCode, stderr }
}

/** Each piece is written before the next is read, so that the last line really comes last. */
async function show(from: ReadableStream<Uint8Array>, to: NodeJS.WriteStream, keep?: (text: string) => void) {
  const decoder = new TextDecoder()
  for await (const chunk of from) {
    keep?.(decoder.decode(chunk, { stream: true }))
    await new Promise((resolve) => to.write(chunk, resolve))
  }
}

async function step(...args: string[]): Promise<Counts> {
  const passed = (await bun(args)).exitCode === 0
  return { passed: passed ? 1 : 0, failed: passed ? 0 : 1 }
}

/** A runner that crashed, or that reports a failure without naming a test, counts as one more failure. */
export function countTests({ exitCode, stderr }: Ended): Counts {
  const lines = stderr.split('\n').map((line) => Bun.stripANSI(line))
  const last = (pattern: RegExp): number => Number(lines.findLast((line) => pattern.test(line))?.match(/\d+/)?.[0] ?? 0)
  const ran = last(/^Ran \d+ tests? across \d+ files?\./)
  const counts = { passed: last(/^ \d+ pass$/), failed: last(/^ \d+ fail$/) }
  const unsaid = counts.failed === 0 && (exitCode !== 0 || counts.passed === 0 || ran === 0)
  return unsaid ? { ...counts, failed: 1 } : counts
}

async function tests(paths: readonly string[] = [], env: Record<string, string> = {}): Promise<Counts> {
  const order = `--timings=${timings}`
  const args = ['test', `--parallel=${testProcesses}`, '--no-orphans', '--timeout', '30000', order, ...paths]
  return countTests(await bun(args, { ...env, ...(isLong && { TEST_LONG: '1' }) }))
}

async function everything(): Promise<Counts[]> {
  const before = [
    await step('fmt', '--check'),
    await step('run', 'lint'),
    await step('check'),
    await step('scripts/generate.ts', '--check'),
    await step('build/fetch.ts'),
  ]
  const compiled = await step('build/compile.ts')
  const env = compiled.failed === 0 ? { TEST_PROGRAM: executable } : {}
  return [...before, compiled, await tests([], env)]
}

async function quick(): Promise<Counts[]> {
  const ignored = quickIgnores.flatMap((pattern) => ['--path-ignore-patterns', pattern])
  const parts = [await step('fmt', '--check'), await step('run', 'lint'), await tests([...quickPaths, ...ignored])]
  console.log(`Left out: the types, the executable and ${leftOut()}. \`bun run test\` runs everything.`)
  return parts
}

/** The test files that `quick` does not run, counted by folder. */
function leftOut(): string {
  const ignores = quickIgnores.map((pattern) => new Bun.Glob(pattern))
  const counts = new Map<string, number>()
  for (const path of [...new Bun.Glob('{src,build,scripts}/**/*.test.{ts,tsx}').scanSync({ cwd: root })].sort()) {
    const runs = quickPaths.some((start) => path.startsWith(start))
    if (runs && !ignores.some((glob) => glob.match(path))) continue
    const folder = path.split('/', path.startsWith('src/') ? 2 : 1).join('/')
    counts.set(folder, (counts.get(folder) ?? 0) + 1)
  }
  const files = [...counts].map(([folder, count]) => `${folder} (${count})`)
  return `the test files of ${files.join(', ')}`
}

if (import.meta.main) {
  const parts = await (process.argv.includes('--quick') ? quick() : everything())
  const sum = (pick: (counts: Counts) => number) => parts.reduce((total, counts) => total + pick(counts), 0)
  const failed = sum(({ failed }) => failed)
  const last = `${sum(({ passed }) => passed)} passed, ${failed} failed\n`
  process.stdout.write(last, () => process.exit(failed === 0 ? 0 : 1))
}
