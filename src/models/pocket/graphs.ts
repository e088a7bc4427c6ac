/**
 * The five graphs of an export, opened and checked against its `bundle.json`, so that files that do not belong together
 * are found when the model is loaded, not when it speaks.
 */
import { join } from 'node:path'
import { checkContract, type PortSpec } from '../../onnx/contract.ts'
import type { CreateSession, Session, Tensors } from '../../onnx/session.ts'
import type { Bundle } from './bundle.ts'
import { portsOf, startStates } from './states.ts'

export interface Graphs {
  /** Token ids to what the model is given for them. */
  text: Session
  /** The language model: what was said up to here, and whether that is all. */
  main: Session
  /** From noise to the next frame of audio, as numbers. */
  flow: Session
  /** Frames to samples. */
  decoder: Session
  /** The decoder's state before the first frame. */
  decoderStart: Tensors
  /**
   * Opens the graph from samples to frames of a voice; null: this export cannot clone. Not kept open: ONNX Runtime
   * keeps what a graph once needed, and this one needs a few hundred megabytes.
   */
  openEncoder: (() => Promise<Session>) | null
}

export interface OpenOptions {
  filesDir: string
  bundle: Bundle
  canClone: boolean
  threads: number
  open: CreateSession
}

interface Contract {
  inputs: readonly PortSpec[]
  outputs: readonly PortSpec[]
}

/** @throws Error that names the file */
export async function openGraphs(options: OpenOptions): Promise<Graphs> {
  const contracts = contractsOf(options.bundle)
  const opened: Session[] = []
  const open = async (name: string, contract: Contract) => {
    const session = await openGraph(options, name, contract)
    opened.push(session)
    return session
  }
  const openEncoder = () => openGraph(options, 'mimi_encoder', contracts.encoder)
  try {
    // Only to check it.
    if (options.canClone) await (await openEncoder()).release()
    return {
      text: await open('text_conditioner', contracts.text),
      main: await open('flow_lm_main', contracts.main),
      flow: await open('flow_lm_flow', contracts.flow),
      decoder: await open('mimi_decoder', contracts.decoder),
      decoderStart: startStates(options.bundle.mimiStates),
      openEncoder: options.canClone ? openEncoder : null,
    }
  } catch (error) {
    await Promise.all(opened.map((session) => session.release()))
    throw error
  }
}

async function openGraph({ filesDir, threads, open }: OpenOptions, name: string, contract: Contract): Promise<Session> {
  const file = `${name}.onnx`
  const session = await open(join(filesDir, file), { threads }).catch((error: Error) => {
    throw new Error(`${file} cannot be opened: ${error.message}`, { cause: error })
  })
  try {
    checkContract(file, session, contract)
    return session
  } catch (error) {
    await session.release()
    throw error
  }
}

/** What the text conditioner does not know: an id of the tokenizer without a row. */
export async function checkTokens({ text }: Graphs, ids: number): Promise<void> {
  const last = { type: 'int64', dims: [1, 1], data: BigInt64Array.of(BigInt(ids - 1)) } as const
  await text.run({ token_ids: last }).catch((error: Error) => {
    throw new Error(`text_conditioner.onnx does not know all ${ids} tokens of tokenizer.model: ${error.message}`)
  })
}

export async function releaseGraphs({ text, main, flow, decoder }: Graphs): Promise<void> {
  await Promise.all([text, main, flow, decoder].map((graph) => graph.release()))
}

function contractsOf(bundle: Bundle): Record<'text' | 'main' | 'flow' | 'decoder' | 'encoder', Contract> {
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
