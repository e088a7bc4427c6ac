/**
 * Names of the simple built-in voices and of their model, Flite, which were inside before hibari. For one release each
 * means what is nearest to it, and the user of one is warned.
 */

/** Ids and names, in lower case, each with the id of a voice that is there. */
export const formerVoices: ReadonlyMap<string, string> = new Map([
  ['rms', 'martin'],
  ['rowan', 'martin'],
  ['slt', 'lark'],
  ['celia', 'lark'],
  ['awb', 'robin'],
  ['alasdair', 'robin'],
  ['kal16', 'jay'],
  ['kellan', 'jay'],
])

export const formerModels: ReadonlyMap<string, string> = new Map([['flite', 'hibari']])

/** For people who can change the name that they use. @param what 'voice' or 'model' */
export const formerNameWarning = (what: 'voice' | 'model', former: string, now: string): string =>
  `The ${what} '${former}' was removed and stands for '${now}' until the next release. Use '${now}'.`
