/**
 * What can go wrong with getting a model, told to whoever asked for it: the message says what happened and what to do.
 * The codes are those that `--json` shows.
 */
export type ModelErrorCode =
  /** The hub keeps it from whoever has not accepted its conditions. */
  | 'gated'
  | 'not_on_hub'
  /** Nobody answers, or not for long enough. */
  | 'no_hub'
  | 'hub_refused'
  /** Something answers that is no hub. */
  | 'no_file_came'
  /** What the card says and what was found differ. */
  | 'other_content'
  | 'disk_full'
  | 'cannot_write'
  | 'files_missing'
  | 'no_such_source'
  | 'bad_archive'
  | 'bad_card'

export class ModelError extends Error {
  override readonly name = 'ModelError'

  constructor(
    readonly code: ModelErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** What may go better when it is tried again; the message continues «it is tried again, because ...». */
export class Interruption extends Error {
  override readonly name = 'Interruption'

  constructor(
    message: string,
    /** What the other side asks for; null: nothing. */
    readonly pauseMs: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}
