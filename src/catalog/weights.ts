/**
 * Weights and graphics cards. ONNX Runtime's CUDA provider has no kernels for most operators of quantised graphs: those
 * parts of a model run on the CPU, and its tensors cross the bus twice for each of them.
 */
import type { Card } from '../domain/card.ts'

export const runsPartlyOnCpu = ({ weights }: Card): boolean => weights === 'int8'

/** The models of the same family that a graphics card can compute as a whole, the preferred one first. */
export const wholeOnCard = (cards: readonly Card[], { family, task }: Card): Card[] =>
  cards
    .filter((other) => other.family === family && other.task === task && !runsPartlyOnCpu(other))
    .sort((one, other) => other.preference - one.preference)
