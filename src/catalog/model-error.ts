/**
 * Names what can go wrong with getting a model, for the user: the message says what happened and what to do. `--json`
 * shows these codes.
 */
export type ModelErrorCode =
  /** The hub requires accepting its conditions first. */
  | 'gated'
  | 'not_on_hub'
  /** There was no answer, or not in time. */
  | 'no_hub'
  | 'hub_refused'
  /** The host that answered is not a hub. */
  | 'no_file_came'
  /** The content differs from what the card says. */
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

/** What may work when tried again; the message continues «it is tried again, because ...». */
export class Interruption extends Error {
  override readonly name = 'Interruption'

  constructor(
    message: string,
    /** The wait that the server requests; null: none. */
    readonly pauseMs: number | null = null,
    options?: ErrorOptions,
  ) {
    super(message, options)
  }
}

/** There was no connection, and there has been none before: waiting seldom helps. */
export class NeverReached extends Interruption {}
