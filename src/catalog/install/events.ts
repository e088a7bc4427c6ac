/** Events of a pull, an import or a verification, for displays and scripts. */
import type { Evidence } from '../manifest.ts'

export type InstallEvent =
  /** Another command is at work on the models. */
  | { event: 'waiting' }
  /** A file that is here is read through. */
  | { event: 'checking'; name: string; sizeBytes: number }
  /** A file is taken out of an archive. */
  | { event: 'unpacking'; name: string; sizeBytes: number }
  /** It is not what it must be, and is fetched again. */
  | { event: 'damaged'; name: string }
  /** What will be downloaded; `heldBytes` arrived earlier, and `keptFiles` more exist and are intact. */
  | { event: 'planned'; files: number; keptFiles: number; totalBytes: number; heldBytes: number; unknownSizes: number }
  | { event: 'started'; name: string; sizeBytes: number | null; heldBytes: number }
  | { event: 'received'; name: string; bytes: number }
  | { event: 'retrying'; name: string; reason: string; pauseMs: number }
  /** What had arrived cannot be used. */
  | { event: 'restarted'; name: string; lostBytes: number; reason: string }
  | { event: 'finished'; name: string; sizeBytes: number; sha256: string; evidence: Evidence }

export type OnEvent = (event: InstallEvent) => void
