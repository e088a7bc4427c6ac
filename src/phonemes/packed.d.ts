/** A packed data file that the bundler carries along: its path, also inside the executable. */
declare module '*.zst' {
  const path: string
  export default path
}
