/** Removes what has expired, in the background. */
import type { Clock, Timer } from '../domain/time.ts'
import type { Library } from './library.ts'
import type { Ledger, PreviewFiles, VoiceFiles, Voices } from './ports.ts'

export interface SweepParts {
  ledger: Ledger
  voices: Voices
  library: Library
  clock: Clock
  timer: Timer
  report: (message: string, cause: unknown) => void
}

const sweepEveryMs = 60_000
/** How long an owner can read why a clone failed. */
const failedVoiceMs = 24 * 3_600_000

/** Removes expired records and voices that failed, once a minute. @returns how to end it */
export function startSweeping(parts: SweepParts): () => void {
  let cancel = () => {}
  let stopped = false
  const next = () => {
    cancel = parts.timer.after(sweepEveryMs, async () => {
      await sweep(parts)
      if (!stopped) next()
    })
  }
  next()
  return () => {
    stopped = true
    cancel()
  }
}

async function sweep({ ledger, voices, library, clock, report }: SweepParts): Promise<void> {
  try {
    await ledger.sweep()
    for (const id of await voices.purgeFailed(clock.nowMs() - failedVoiceMs)) await library.clear(id)
  } catch (error) {
    report('expired records could not be removed; the next sweep will try again', error)
  }
}

/**
 * Removes the files of voices that are not, and of those that failed: what a crash left. Only before the port opens,
 * for files that are being written look the same.
 * @param presets ids of the voices of models: they have previews
 * @returns how many folders went
 */
export async function removeOrphans(
  { voices, files, made }: { voices: Voices; files: VoiceFiles; made: PreviewFiles },
  presets: readonly string[],
): Promise<number> {
  const known = new Set<string>()
  for (const id of await voices.ids()) {
    const voice = await voices.find(id)
    if (voice !== null && voice.status !== 'failed') known.add(id)
  }
  return (await files.removeOrphans(known)) + (await made.removeOrphans(new Set([...known, ...presets])))
}
