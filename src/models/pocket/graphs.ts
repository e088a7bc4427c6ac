/**
 * The five graphs of an export, opened and checked against its `bundle.json`, so that what does not belong together is
 * found when the model is loaded and not when somebody speaks.
 */
import { join } from 'node:path'
import { checkContract, type PortSpec } from '../contract.ts'
import type { createSession, Session } from '../session.ts'
import type { Bundle } from './bundle.ts'
import { portsOf } from './states.ts'

export interface Graphs {
  /** Token ids to what the model is given for them. */
  text: Session
  /** The language model: what was said up to here, and whether that is all. */
  main: Session
  /** From noise to the next frame of sound, as numbers. */
  flow: Session
  /** Frames to samples. */
  decoder: Session
  /** Samples to frames of a voice; null: this export cannot clone. */
  encoder: Session | null
}

export interface OpenOptions {
  filesDir: string
  bundle: Bundle
  canClone: boolean
  threads: number
  open: typeof createSession
}

interface Contract {
  inputs: readonly PortSpec[]
  outputs: readonly PortSpec[]
}

/** @throws Error that names the file */
export async function openGraphs(options: OpenOptions): Promise<Graphs> {
  const { filesDir, bundle, canClone, threads } = options
  const opened: Session[] = []
  const open = async (name: string, contract: Contract, file = `${name}.onnx`) => {
    const session = await options.open(join(filesDir, file), { threads }).catch((error: Error) => {
      throw new Error(`${file} cannot be opened: ${error.message}`)
    })
    opened.push(session)
    checkContract(file, session, contract)
    return session
  }
  const contracts = contractsOf(bundle)
  try {
    return {
      text: await open('text_conditioner', contracts.text),
      main: await open('flow_lm_main', contracts.main),
      flow: await open('flow_lm_flow', contracts.flow),
      decoder: await open('mimi_decoder', contracts.decoder),
      encoder: canClone ? await open('mimi_encoder', contracts.encoder) : null,
    }
  } catch (error) {
    await Promise.all(opened.map((session) => session.release()))
    throw error
  }
}

/** What the text conditioner has never seen: an id that the tokenizer gives and it has no row for. */
export async function checkTokens({ text }: Graphs, ids: number): Promise<void> {
  const last = { type: 'int64', dims: [1, 1], data: BigInt64Array.of(BigInt(ids - 1)) } as const
  await text.run({ token_ids: last }).catch((error: Error) => {
    throw new Error(`text_conditioner.onnx does not know all ${ids} tokens of tokenizer.model: ${error.message}`)
  })
}

export async function releaseGraphs({ text, main, flow, decoder, encoder }: Graphs): Promise<void> {
  await Promise.all([text, main, flow, decoder, ...(encoder === null ? [] : [encoder])].map((one) => one.release()))
}

function contractsOf(bundle: Bundle): Readonly<Record<keyof Graphs, Contract>> {
  const { latentDim, conditioningDim, flowStates, mimiStates } = bundle
  const floats = (name: string, ...dims: (number | null)[]): PortSpec => ({ name, type: 'float32', dims })
  const unshaped = (name: string): PortSpec => ({ name, type: 'float32', dims: null })
  return {
    text: {
      inputs: [{ name: 'token_ids', type: 'int64', dims: [1, null] }],
      outputs: [unshaped('embeddings')],
    },
    main: {
      inputs: [
        floats('sequence', 1, null, latentDim),
        floats('text_embeddings', 1, null, conditioningDim),
        ...portsOf(flowStates, 'input'),
      ],
      outputs: [unshaped('conditioning'), unshaped('eos_logit'), ...portsOf(flowStates, 'output')],
    },
    flow: {
      inputs: [
        floats('c', null, conditioningDim),
        floats('s', null, 1),
        floats('t', null, 1),
        floats('x', null, latentDim),
      ],
      outputs: [unshaped('flow_dir')],
    },
    decoder: {
      inputs: [floats('latent', 1, null, latentDim), ...portsOf(mimiStates, 'input')],
      outputs: [unshaped('audio_frame'), ...portsOf(mimiStates, 'output')],
    },
    encoder: { inputs: [floats('audio', null, null, null)], outputs: [unshaped('latents')] },
  }
}
