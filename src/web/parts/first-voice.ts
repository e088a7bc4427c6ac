/**
 * Decides which voice the Speak page begins with: the one that was just chosen elsewhere, else the default of this
 * account in this browser.
 */
const key = (accountId: string): string => `myna-voice-${accountId}`

let chosen: string | null = null

/** Opens the Speak page with this voice. */
export function speakWith(voiceId: string): void {
  chosen = voiceId
  location.hash = '#/speak'
}

/** What `speakWith` was given, once. */
export function takeChosenVoice(): string | null {
  const taken = chosen
  chosen = null
  return taken
}

export const defaultVoice = (accountId: string): string | null => localStorage.getItem(key(accountId))

/** @param voiceId null: the server's own default again */
export function setDefaultVoice(accountId: string, voiceId: string | null): void {
  if (voiceId === null) localStorage.removeItem(key(accountId))
  else localStorage.setItem(key(accountId), voiceId)
}
