/** What is done to the file of a graph before it is loaded; for the built-in one, already when Myna is built. */
import { exposeOutput } from '../../onnx/expose-output.ts'

/**
 * The length of each symbol, in half frames, with those of the pads: a value inside the graph. Frames are twice as
 * many.
 */
export const durations = '/Cast_32_output_0'

/** The graph with one more output, `durations`. */
export const withDurations = (model: Uint8Array): Uint8Array<ArrayBuffer> => exposeOutput(model, durations)
