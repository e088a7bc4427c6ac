/** Graphs and tensors as the models see them: what a session, a loop and a tensor are, wherever a graph runs. */

export type TensorData = Float32Array | Int32Array | BigInt64Array | Uint8Array | Uint16Array

/** Row-major. `type` and `data` belong together: uint8 and bool are bytes, float16 is the bits of each number. */
export interface Tensor {
  type: 'float32' | 'float16' | 'int32' | 'int64' | 'uint8' | 'bool'
  dims: readonly number[]
  data: TensorData
}

export type Tensors = Readonly<Record<string, Tensor>>

/** A result that stays where it was computed, so that a loop can take it as a constant without a copy. */
export interface Held extends Tensor {
  /** A copy, made each time it is asked for. */
  readonly data: TensorData
  /** Gives its memory back once no loop uses it. Harmless when repeated; nothing else may be asked afterwards. */
  release(): void
}

export const isHeld = (tensor: Tensor): tensor is Held => 'release' in tensor

/** What a graph states about one of its inputs or outputs. */
export interface Port {
  name: string
  type: string
  /** A length known only at run time is a string: its name in the graph, or '' if it has none. */
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
  /**
   * For runs that are shorter than the way to another thread and back: they are computed on the calling thread, and end
   * before anything can stop them.
   */
  inline?: true
  /** ONNX Runtime has optimised it already, and has written it in its own format: its weights are used in place. */
  isOptimised?: true
}

export interface Session {
  readonly inputs: readonly Port[]
  readonly outputs: readonly Port[]
  /**
   * Runs the graph once, on other threads: the engine's loop continues meanwhile, and so do other runs. As
   * many at once as there are threads take the least time and memory in all; more of them wait for a thread. On a
   * graphics card, and if the session is `inline`, the loop blocks for as long as it takes.
   * @param feeds may be overwritten at once: they were copied
   * @param signal ends the run at its next node; the promise settles once it has really stopped
   * @throws Error naming the inputs if they are not those of the graph; after `release`; what ONNX Runtime refuses; the
   * signal's reason
   */
  run(feeds: Tensors, signal?: AbortSignal): Promise<Record<string, Tensor>>
  /**
   * As `run`, but all outputs that `holds` names are held.
   * @returns `held` only when everything has worked: the caller releases each of them
   */
  runHolding(
    feeds: Tensors,
    holds: (output: string) => boolean,
    signal?: AbortSignal,
  ): Promise<{ read: Record<string, Tensor>; held: Record<string, Held> }>
  /** A graph run step by step, whose states need not leave the place where they are computed. */
  loop(options: LoopOptions): Loop
  /** Ends active runs and loops and frees the memory. Harmless when repeated. */
  release(): Promise<void>
}

export interface LoopOptions {
  /** For each state, the input that takes it and the output that gives it for the next step. */
  links: Readonly<Record<string, string>>
  /** By input, before the first step. Never written to, so that many loops can start from the same. */
  start: Tensors
  /** Inputs that are the same in every step: copied, or held by the loop too. */
  constants?: Tensors
}

export interface Loop {
  /**
   * Concurrent steps are taken one after the other. One that fails leaves the states as they were.
   * @param feeds the other inputs @returns the other outputs @throws as `Session.run`
   */
  step(feeds: Tensors, signal?: AbortSignal): Promise<Record<string, Tensor>>
  /** By input: copies of the states after the last step, to start other loops with. */
  states(): Promise<Record<string, Tensor>>
  /** Harmless when repeated, and while a step is running. */
  release(): void
}

/** @param model path of the file, or its bytes @throws Error if it is not a graph that this ONNX Runtime can run */
export type CreateSession = (model: string | Uint8Array, options: SessionOptions) => Promise<Session>
