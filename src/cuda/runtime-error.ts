/**
 * Names what can go wrong with the CUDA build of ONNX Runtime, for the user: the message says what happened and what
 * to do. `--json` shows these codes.
 */
export type RuntimeErrorCode =
  /** A file is not a shared library, or is damaged. */
  | 'bad_library'
  /** It belongs to another release of ONNX Runtime than the one inside the program. */
  | 'wrong_version'
  /** It is for a version of CUDA that the driver here cannot run. */
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
