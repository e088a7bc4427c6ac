/** Holds what events of speech and transcripts have in common. */
import * as is from './openapi/shapes.ts'

export const noTokens = {
  input_tokens: is.zero('There are no tokens here.'),
  output_tokens: is.zero(),
  total_tokens: is.zero(),
}

/** A stream of events in the API's document. */
export const eventStream = (about: string, lines: readonly string[]): is.Shape<string> => ({
  schema: { type: 'string', description: about },
  example: [...lines, 'data: [DONE]', ''].join('\n\n'),
})

/** An event as the example of a stream shows it. */
export const exampleOf = ({ example }: is.Shape, name?: string): string =>
  `${name === undefined ? '' : `event: ${name}\n`}data: ${JSON.stringify(example)}`
