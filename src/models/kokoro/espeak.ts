/**
 * The espeak-ng of this machine, run as a separate program: it is under the GPL and not part of Myna. It is looked up
 * on the PATH when a model is loaded and gives the phonemes of lines of text, one process for several lines.
 */

/** Longest line: it breaks longer ones. In UTF-16 units. */
export const longestLine = 300

const deadlineMs = 10_000
/** A letter is a few phonemes at most. */
const mostBytesOut = 1 << 20

export class Espeak {
  readonly #program: string

  constructor(program: string) {
    this.#program = program
  }

  /** @returns null if it is not installed */
  static find(): Espeak | null {
    const program = Bun.which('espeak-ng')
    return program === null ? null : new Espeak(program)
  }

  /**
   * @param lines without line breaks, at most `longestLine` long each
   * @param voice as `espeak-ng --voices` names it
   * @returns for each line its phonemes in IPA, the parts of a sound joined by `^`; '' where there is nothing to say
   * @throws Error when the program fails, is too slow or says too much; the signal's reason once it aborts
   */
  async phonemes(lines: readonly string[], voice: string, signal: AbortSignal): Promise<string[]> {
    const spoken = await this.#run(lines, voice, signal)
    if (spoken.length === lines.length) return spoken
    // A line that it breaks in two by its own rules is sent separately.
    const single: string[] = []
    for (const line of lines) single.push((await this.#run([line], voice, signal)).join(' '))
    return single
  }

  async #run(lines: readonly string[], voice: string, signal: AbortSignal): Promise<string[]> {
    signal.throwIfAborted()
    const child = Bun.spawn([this.#program, '-q', '--ipa', '--tie=^', '-v', voice], {
      stdin: new Blob([lines.map((line) => `${line}\n`).join('')]),
      stdout: 'pipe',
      stderr: 'ignore',
      timeout: deadlineMs,
      killSignal: 'SIGKILL',
      maxBuffer: mostBytesOut,
    })
    const kill = () => child.kill('SIGKILL')
    signal.addEventListener('abort', kill)
    try {
      const [written, code] = await Promise.all([new Response(child.stdout).text(), child.exited])
      signal.throwIfAborted()
      if (code !== 0) throw new Error(`espeak-ng ended with ${child.signalCode ?? code} for voice ${voice}`)
      return written
        .split('\n')
        .slice(0, -1)
        .map((line) => line.trim())
    } finally {
      signal.removeEventListener('abort', kill)
    }
  }
}
