/** A graph that the bundler carries along as a file: its path, also inside the executable. */
declare module '*.onnx' {
  const path: string
  export default path
}
