/** How often any graph has been run through in this process: what shows that long work goes on. */
let runs = 0

export const runCount = (): number => runs

export function noteRun(): void {
  runs++
}
