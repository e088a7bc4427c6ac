/** Hearing speech at once: raw samples go to whichever player of this machine is found first. */
import { Failure } from '../terminal/terminal.ts'
import { nothingKept, type Sink } from './sink.ts'

const rate = String

/** For each program, how it reads mono 16-bit samples from standard input. PipeWire before PulseAudio before ALSA. */
const players: Readonly<Record<string, (sampleRateHz: number) => string[]>> = {
  'pw-cat': (hz) => ['--playback', '--raw', '--format', 's16', '--rate', rate(hz), '--channels', '1', '-'],
  paplay: (hz) => ['--raw', '--format=s16le', `--rate=${hz}`, '--channels=1'],
  aplay: (hz) => ['-q', '-t', 'raw', '-f', 'S16_LE', '-r', rate(hz), '-c', '1', '-'],
  ffplay: (hz) => [
    '-nodisp',
    '-autoexit',
    '-loglevel',
    'error',
    '-f',
    's16le',
    '-ar',
    rate(hz),
    '-ch_layout',
    'mono',
    '-',
  ],
}

export interface Player {
  /** The program's name. */
  name: string
  command: string[]
}

/** @returns null when none is installed */
export function findPlayer(sampleRateHz: number): Player | null {
  for (const [name, flags] of Object.entries(players)) {
    const path = Bun.which(name)
    if (path !== null) return { name, command: [path, ...flags(sampleRateHz)] }
  }
  return null
}

export const playerNames = (): string => Object.keys(players).join(', ')

/** Plays what is written to it. `keep` waits until all of it has been heard; `leave` stops the sound. */
export function playerSink({ name, command }: Player): Sink {
  const child = Bun.spawn(command, { stdin: 'pipe', stdout: 'ignore', stderr: 'pipe' })
  let bytes = 0
  const failed = async () => {
    const words = (await child.stderr.text()).trim().split('\n').at(-1) ?? ''
    return new Failure(`${name} cannot play: ${words || `it ended with ${child.exitCode}`}`, 'cannot_play')
  }
  return {
    get bytes() {
      return bytes
    },
    write: async (chunk) => {
      // A player that has ended takes no more.
      if (child.exitCode !== null) throw await failed()
      child.stdin.write(chunk)
      await child.stdin.flush()
      bytes += chunk.length
    },
    keep: async () => {
      await child.stdin.end()
      if ((await child.exited) !== 0) throw await failed()
    },
    leave: async () => {
      child.kill()
      await child.exited
      return nothingKept
    },
  }
}
