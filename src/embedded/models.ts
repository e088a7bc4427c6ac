/**
 * The files of built-in models. The executable carries them compressed; run from source, they come out of the build
 * cache (`build/model-files.ts`, which the build replaces). Nothing is unpacked to the disk: ONNX Runtime loads a graph
 * from memory and copies what it keeps, so the caller drops the bytes afterwards.
 */
import { modelFile } from '../../build/model-files.ts'
import type { Card } from '../domain/card.ts'

/** @param name as the card names the file @throws Error when the card has no such file, or the build cache lacks it */
export async function embeddedFile({ id, embedded = [] }: Card, name: string): Promise<Uint8Array<ArrayBuffer>> {
  const file = embedded.find((known) => known.name === name)
  if (file === undefined) throw new Error(`${id} carries no file ${name}`)
  return modelFile(file)
}
