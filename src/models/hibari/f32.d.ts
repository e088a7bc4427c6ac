/** Raw samples, little-endian float32, as a path. */
declare module '*.f32' {
  const path: string
  export default path
}
