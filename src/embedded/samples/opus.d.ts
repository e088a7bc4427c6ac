/** A sound imported `with { type: 'file' }`: its path, also inside the executable. */
declare module '*.opus' {
  const path: string
  export default path
}
