/**
 * Ties the engine's life to its server's (child side). The IPC channel alone is not enough: an engine inside a long
 * native or WASM call does not see that it was closed, and would keep the GPU's memory for as long as the call lasts.
 */
import { dlopen } from 'bun:ffi'

/** Constants from linux/prctl.h and signal.h. */
const prSetPdeathsig = 1
const sigkill = 9n

/**
 * The kernel kills this process when the thread that started it ends. Ends the process at once when the parent was gone
 * before that could be arranged. Elsewhere than on Linux the channel's end has to do.
 */
export function dieWithParent(parentPid: number): void {
  if (process.platform !== 'linux') return
  const libc = dlopen('libc.so.6', {
    prctl: { args: ['i32', 'u64', 'u64', 'u64', 'u64'], returns: 'i32' },
    getppid: { args: [], returns: 'i32' },
  })
  if (libc.symbols.prctl(prSetPdeathsig, sigkill, 0n, 0n, 0n) !== 0) throw new Error('prctl(PR_SET_PDEATHSIG) failed')
  if (libc.symbols.getppid() !== parentPid) process.exit(1)
}

/** Ctrl-C reaches the whole group: when to end is for the server to say, once its streams are settled. */
export function ignoreSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => {})
}
