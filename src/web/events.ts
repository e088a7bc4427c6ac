/** Server-sent events of an answer, as they come; comments too, for progress is told in them. */
export type StreamEvent = { data: string } | { comment: string }

export async function* eventsOf(answer: Response): AsyncGenerator<StreamEvent> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const part of answer.body ?? []) {
    text += decoder.decode(part, { stream: true })
    const blocks = text.split('\n\n')
    text = blocks.pop() ?? ''
    for (const block of blocks) yield* inBlock(block)
  }
}

function* inBlock(block: string): Generator<StreamEvent> {
  const lines = block.split('\n')
  for (const line of lines) if (line.startsWith(':')) yield { comment: line.slice(1).trim() }
  const data = lines.filter((line) => line.startsWith('data: ')).map((line) => line.slice('data: '.length))
  if (data.length > 0) yield { data: data.join('\n') }
}
