/** LAME, imported `with { type: 'file' }`: its path, also inside the executable. */
declare module 'wasm-media-encoders/wasm/mp3' {
  const path: string
  export default path
}
