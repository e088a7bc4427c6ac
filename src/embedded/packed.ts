/**
 * Reads a file that the bundler carries along (`with { type: 'file' }`). The executable has those of `build/assets.ts`
 * compressed, under names that end in `.zst`.
 */
export async function unpacked(path: string): Promise<Uint8Array<ArrayBuffer>> {
  const bytes = await Bun.file(path).bytes()
  return path.endsWith('.zst') ? new Uint8Array(await Bun.zstdDecompress(bytes)) : bytes
}
