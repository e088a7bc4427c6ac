/** A transcript. Times count from the start of the clip, even where silence was removed before the model ran. */
export interface TranscriptWord {
  /** As the model produced it, without space around it, punctuation attached. */
  text: string
  startMs: number
  endMs: number
  /** 0 to 1; null: this model does not say. */
  probability: number | null
}

/** The fields of OpenAI's `verbose_json` segment; what a model does not know is 0 or empty. */
export interface TranscriptSegment {
  startMs: number
  endMs: number
  /** As the model produced it: joining the texts of all segments and trimming gives the transcript. */
  text: string
  /** Start of the window that contained it. */
  seekMs: number
  tokens: readonly number[]
  temperature: number
  /** Mean natural logarithm of the probabilities of its window's tokens. */
  avgLogprob: number
  /** Bytes of the window's text over bytes of it compressed: high where a model repeats itself. */
  compressionRatio: number
  /** 0 to 1. */
  noSpeechProb: number
  /** null: not requested, or this model has no word times. */
  words: readonly TranscriptWord[] | null
}
