/** The name of a runtime, as commands take it: there is one besides that inside the program. */
import { Failure } from '../terminal/terminal.ts'

/** @throws Failure for any but `cuda` */
export function requireCuda(name: string): void {
  if (name === 'cuda') return
  throw new Failure(`There is no runtime '${name}': the only one is cuda.`, 'no_such_runtime')
}
