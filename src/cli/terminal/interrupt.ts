/**
 * Ctrl-C and `kill`. A command that a signal stopped exits with 128 plus the number of the signal, as if the signal had
 * ended it: shells and scripts see in the code that it did not fail by itself.
 */
import { constants } from 'node:os'

const signals = ['SIGINT', 'SIGTERM'] as const

let received: NodeJS.Signals | null = null

/** Calls back at the first signal; a second one ends the process at once. @returns how to stop listening */
export function onInterrupt(callback: () => void): () => void {
  const stop = () => {
    for (const signal of signals) process.removeListener(signal, interrupt)
  }
  const interrupt = (signal: NodeJS.Signals) => {
    stop()
    received = signal
    callback()
  }
  for (const signal of signals) process.on(signal, interrupt)
  return stop
}

/** The exit code of a command that did not end well; null: no signal stopped it. */
export const interruptedCode = (): number | null => (received === null ? null : exitCodeOf(received))

/** 130 for SIGINT, 143 for SIGTERM. */
export const exitCodeOf = (signal: NodeJS.Signals): number => 128 + constants.signals[signal]
