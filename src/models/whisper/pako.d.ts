/** The package has no types of its own. */
declare module 'pako' {
  /** In zlib's format, at its default level. */
  export function deflate(data: Uint8Array): Uint8Array
}
