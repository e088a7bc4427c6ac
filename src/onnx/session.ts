/** Graphs and tensors as the models see them: what a session, a loop and a tensor are, wherever a graph runs. */

export type TensorData = Float32Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array

/** Row-major. `type` and `data` belong together: uint8 and bool are bytes, float16 is the bits of each number. */
export interface Tensor {
  type: 'float32' | 'float16' | 'int32' | 'int64' | 'uint8' | 'bool'
  dims: readonly number[]
  data: TensorData
}

export type Tensors = Readonly<Record<string, Tensor>>

/** What a graph says of one of its inputs or outputs. */
export interface Port {
  name: string
  type: string
  /** A length that is known only at run time is a word: its name in the graph, or '' when it has none. */
  dims: readonly (number | string)[]
}

export interface SessionOptions {
  /**
   * Compute threads of one run. They sleep when there is nothing to do: by default they would spin, and those of one
   * session take the cores from the next. Three sessions in turn, two threads each, on two busy cores: 7 times as fast.
   */
  threads: number
  /** Wherever the other graphs of the process run: for those whose runs are too short to be worth a way there. */
  onCpu?: true
}

export interface Session {
  readonly inputs: readonly Port[]
  readonly outputs: readonly Port[]
  /**
   * Runs the graph once. Synchronous underneath: the engine's loop stands still for as long as it takes.
   * @throws Error naming the inputs when they are not those of the graph; after `release`; what ONNX Runtime refuses
   */
  run(feeds: Tensors): Promise<Record<string, Tensor>>
  /** A graph run step by step, whose states need not leave the place where they are computed. */
  loop(options: LoopOptions): Loop
  /** Gives the memory back. Harmless when repeated. Loops must have been released. */
  release(): Promise<void>
}

export interface LoopOptions {
  /** For each state, the input that takes it and the output that brings it for the next step. */
  links: Readonly<Record<string, string>>
  /** By input, before the first step. Never written to, so that many loops can start from the same. */
  start: Tensors
  /** Inputs that are the same in every step. */
  constants?: Tensors
}

export interface Loop {
  /** @param feeds the other inputs @returns the other outputs @throws as `Session.run` */
  step(feeds: Tensors): Promise<Record<string, Tensor>>
  /** By input: copies of the states as the last step left them, to start other loops with. */
  states(): Promise<Record<string, Tensor>>
  /** Harmless when repeated. */
  release(): void
}

/** @param model path of the file, or its bytes @throws Error when it is no graph that this ONNX Runtime can run */
export type CreateSession = (model: string | Uint8Array, options: SessionOptions) => Promise<Session>
