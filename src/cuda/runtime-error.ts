/**
 * What can go wrong with the CUDA build of ONNX Runtime, told to whoever asked for it: the message says what happened
 * and what to do. The codes are those that `--json` shows.
 */
export type RuntimeErrorCode =
  /** A file is no shared library, or is damaged. */
  | 'bad_library'
  /** Of another release of ONNX Runtime than the one inside the program. */
  | 'wrong_version'
  /** For a kind of CUDA that the driver here cannot run. */
  | 'old_driver'
  | 'libraries_missing'

export class RuntimeError extends Error {
  override readonly name = 'RuntimeError'

  constructor(
    readonly code: RuntimeErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
