/** Files of the documentation page that the bundler carries along: their paths, also inside the executable. */
declare module '*/swagger-ui-bundle.js' {
  const path: string
  export default path
}
declare module '*/swagger-ui.css' {
  const path: string
  export default path
}
/** Its text. */
declare module '*/docs.css' {
  const text: string
  export default text
}
