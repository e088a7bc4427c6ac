/**
 * The Model Context Protocol over standard input and output: one JSON-RPC message a line, nothing else on either. Of
 * its server features only tools are there.
 */
import { version } from '../../../package.json' with { type: 'json' }
import { type Arguments, type Inputs, read } from './arguments.ts'
import { Failure } from '../terminal/terminal.ts'

/** Newest first. Dates compare as text. */
const protocolVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05', '2024-10-07'] as const
/** From this one on a result may name a file. */
const linksSince = '2025-06-18'
/** Of one message. What a model writes fits many times. */
const lineBytesMax = 4 * 1024 * 1024
const errorCodes = { parse: -32700, request: -32600, method: -32601, params: -32602 } as const

export interface Tool {
  name: string
  title: string
  description: string
  inputs: Inputs
  annotations: Readonly<Record<string, boolean>>
  /** @throws Failure in words that the model can act on */
  run(given: Arguments, call: Call): Promise<ToolResult>
}

export interface Call {
  /** Aborts when the client cancels the call or disconnects. */
  signal: AbortSignal
  /** Sends the client a progress message. */
  progress(text: string): void
}

export interface ToolResult {
  text: string
  /** A file that was written. */
  file?: { uri: string; name: string; mimeType: string }
}

type Id = string | number
interface Message {
  id?: Id
  method?: unknown
  params?: Record<string, unknown>
}

export class McpServer {
  readonly #tools: readonly Tool[]
  readonly #write: (line: string) => void
  readonly #running = new Map<Id, AbortController>()
  readonly #work = new Set<Promise<void>>()
  #protocol: string = protocolVersions[0]

  /** @param write takes one message, ending with a line break */
  constructor(tools: readonly Tool[], write: (line: string) => void) {
    this.#tools = tools
    this.#write = write
  }

  /** Runs until the client closes its end; then stops the calls that are running and waits for them. */
  async serve(input: AsyncIterable<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder()
    let unread = ''
    for await (const chunk of input) {
      const lines = (unread + decoder.decode(chunk, { stream: true })).split('\n')
      unread = lines.pop() ?? ''
      for (const line of lines) if (line.trim() !== '') this.#take(line)
      if (unread.length <= lineBytesMax) continue
      this.#refuse(null, errorCodes.request, `A message has ${lineBytesMax} bytes at most.`)
      break
    }
    for (const controller of this.#running.values()) controller.abort()
    await Promise.all(this.#work)
  }

  #take(line: string): void {
    let message: Message | null
    try {
      message = JSON.parse(line) as Message | null
    } catch {
      return this.#refuse(null, errorCodes.parse, 'This line is not JSON.')
    }
    if (typeof message !== 'object' || message === null || Array.isArray(message)) {
      return this.#refuse(null, errorCodes.request, 'A message is one JSON object.')
    }
    const { id, method } = message
    // Answers: this server asks for nothing.
    if (typeof method !== 'string') return
    const isGiven = (value: unknown): value is object => typeof value === 'object' && value !== null
    const params = isGiven(message.params) ? message.params : {}
    if (typeof id !== 'string' && typeof id !== 'number') return this.#notified(method, params)
    this.#requested(id, method, params)
  }

  #notified(method: string, params: Record<string, unknown>): void {
    if (method === 'notifications/cancelled') this.#running.get(params.requestId as Id)?.abort()
  }

  #requested(id: Id, method: string, params: Record<string, unknown>): void {
    if (method === 'initialize') return this.#answer(id, this.#introduction(params.protocolVersion))
    if (method === 'ping') return this.#answer(id, {})
    if (method === 'tools/list') return this.#answer(id, { tools: this.#tools.map(listed) })
    if (method !== 'tools/call') return this.#refuse(id, errorCodes.method, `There is no method '${method}'.`)
    const tool = this.#tools.find(({ name }) => name === params.name)
    if (tool === undefined) return this.#refuse(id, errorCodes.params, `There is no tool '${String(params.name)}'.`)
    const work = this.#call(id, tool, params).finally(() => this.#work.delete(work))
    this.#work.add(work)
  }

  #introduction(asked: unknown) {
    this.#protocol = protocolVersions.find((known) => known === asked) ?? protocolVersions[0]
    return {
      protocolVersion: this.#protocol,
      capabilities: { tools: {} },
      serverInfo: { name: 'myna', title: 'Myna', version },
      instructions: 'Speaks text aloud or into files, and transcribes recordings. Clone only people who agreed.',
    }
  }

  async #call(id: Id, tool: Tool, params: Record<string, unknown>): Promise<void> {
    const controller = new AbortController()
    this.#running.set(id, controller)
    const { progressToken } = (params._meta ?? {}) as { progressToken?: Id }
    let sent = 0
    const progress = (message: string): void => {
      if (progressToken === undefined || controller.signal.aborted) return
      this.#send({ method: 'notifications/progress', params: { progressToken, progress: ++sent, message } })
    }
    try {
      const result = await tool.run(read(params.arguments, tool.inputs), { signal: controller.signal, progress })
      const link = result.file === undefined || this.#protocol < linksSince ? [] : [linkTo(result.file)]
      if (!controller.signal.aborted) this.#answer(id, { content: [textOf(result.text), ...link] })
    } catch (error) {
      // A result rather than a protocol error, so that the model reads it and can try again.
      const { message } = error as Error
      const code = error instanceof Failure ? ` [${error.code}]` : ''
      const text = message.endsWith(code) ? message : `${message}${code}`
      if (!controller.signal.aborted) this.#answer(id, { content: [textOf(text)], isError: true })
    } finally {
      this.#running.delete(id)
    }
  }

  #answer(id: Id, result: object): void {
    this.#send({ id, result })
  }

  #refuse(id: Id | null, code: number, message: string): void {
    this.#send({ id, error: { code, message } })
  }

  #send(message: object): void {
    this.#write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
}

const textOf = (text: string) => ({ type: 'text', text })
const linkTo = (file: object) => ({ type: 'resource_link', ...file })

function listed({ name, title, description, inputs, annotations }: Tool) {
  const required = Object.entries(inputs).flatMap(([input, { optional }]) => (optional === true ? [] : [input]))
  const properties = Object.entries(inputs).map(([input, described]) => {
    const { optional: _, ...schema } = described
    return [input, schema]
  })
  const inputSchema = {
    type: 'object',
    properties: Object.fromEntries(properties),
    required,
    additionalProperties: false,
  }
  return { name, title, description, inputSchema, annotations }
}
