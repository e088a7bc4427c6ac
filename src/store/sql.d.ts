/** SQL files are imported as text and so become part of the executable. */
declare module '*.sql' {
  const text: string
  export default text
}
