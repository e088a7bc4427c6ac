/** A WebAssembly file imported `with { type: 'file' }`: its path, also inside the executable. */
declare module '*.wasm' {
  const path: string
  export default path
}
