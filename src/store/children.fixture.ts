/** Starts `child.fixture.ts` inside a test and reads its output. */
import { onTestFinished } from 'bun:test'
import { join } from 'node:path'

export interface Child {
  readonly process: Bun.Subprocess<'pipe', 'pipe', 'inherit'>
  /** The next line; the empty string at the end. */
  line(): Promise<string>
}

const script = join(import.meta.dir, 'child.fixture.ts')

export const childCommand = (mode: string, dataDir: string, argument = ''): string[] => [
  process.execPath,
  script,
  mode,
  dataDir,
  argument,
]

export function startChild(command: string[]): Child {
  const child = Bun.spawn(command, { stdin: 'pipe', stdout: 'pipe', stderr: 'inherit' })
  // A failing test must not leave a process behind.
  onTestFinished(() => child.kill('SIGKILL'))
  const lines = linesOf(child.stdout)
  return { process: child, line: async () => (await lines.next()).value ?? '' }
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of stream) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
  if (rest !== '') yield rest
}
