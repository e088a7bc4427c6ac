/**
 * The files of built-in models. The executable carries them compressed; run from source, they come out of the build
 * cache (`build/cache.ts`, which the build replaces). Nothing is unpacked to the disk: ONNX Runtime loads a graph
 * from memory and copies what it keeps, so the caller drops the bytes afterwards.
 */
import { type CarriedGraph, graphFile, cachedFile } from '../../build/cache.ts'
import type { Card, EmbeddedFile } from '../domain/card.ts'

/** @param name as the card names the file @throws Error when the card has no such file, or the build cache lacks it */
export const embeddedFile = async (card: Card, name: string): Promise<Uint8Array<ArrayBuffer>> =>
  cachedFile(entryOf(card, name))

/**
 * A file that is a graph, made ready: the executable carries it so, and optimised (`build/optimised.ts`).
 * @param prepare as `build/optimised.ts` names it for this file @throws as `embeddedFile`
 */
export const embeddedGraph = async (
  card: Card,
  name: string,
  prepare: (model: Uint8Array) => Uint8Array<ArrayBuffer>,
): Promise<CarriedGraph> => graphFile(entryOf(card, name), prepare)

function entryOf({ id, embedded = [] }: Card, name: string): EmbeddedFile {
  const file = embedded.find((known) => known.name === name)
  if (file === undefined) throw new Error(`${id} carries no file ${name}`)
  return file
}
