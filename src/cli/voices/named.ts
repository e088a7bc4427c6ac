/** Requests about a voice that a person named, whose refusals come with what to do about them. */
import { type ApiClient, Refusal } from '../client/client.ts'
import { Failure } from '../terminal/terminal.ts'
import { advised, everyVoice } from './clone.ts'

/** Runs a command's requests; what the server refuses comes with what to do about it. */
export async function asking<T>(requests: Promise<T>): Promise<T> {
  return requests.catch((error: unknown) => Promise.reject(error instanceof Refusal ? advised(error) : error))
}

/**
 * Works on the voice that a person named: by its id, which the server knows, else by an own alias or a name.
 * @throws Refusal, Failure when several voices have the name
 */
export async function onVoice<T>(client: ApiClient, given: string, work: (id: string) => Promise<T>): Promise<T> {
  try {
    return await work(given)
  } catch (error) {
    if (!(error instanceof Refusal) || error.code !== 'voice_not_found') throw error
    const id = await idCalled(client, given)
    if (id === null) throw error
    return work(id)
  }
}

async function idCalled(client: ApiClient, given: string): Promise<string | null> {
  const voices = await everyVoice(client)
  const isSame = (name: string) => name.toLowerCase() === given.toLowerCase()
  const aliased = voices.filter(({ aliases }) => aliases?.some(isSame))
  const named = aliased.length > 0 ? aliased : voices.filter(({ name }) => isSame(name))
  if (named.length < 2) return named[0]?.voice_id ?? null
  const ids = named.map(({ voice_id: id }) => id).join(', ')
  throw new Failure(`Several voices are called '${given}'. Give the id of one: ${ids}`, 'voice_not_found')
}
