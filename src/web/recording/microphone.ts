/** Getting at the microphone, and why it cannot be had: each reason in words that say what helps. */

/** @throws Error in words */
export async function microphone(): Promise<MediaStream> {
  if (navigator.mediaDevices === undefined) throw new Error(insecure())
  const audio = { echoCancellation: false, noiseSuppression: false, autoGainControl: false, channelCount: 1 }
  try {
    return await navigator.mediaDevices.getUserMedia({ audio })
  } catch (cause) {
    const { name, message } = cause as DOMException
    throw new Error(reasons[name] ?? `The microphone cannot be used: ${message}`, { cause })
  }
}

const reasons: Readonly<Record<string, string>> = {
  NotAllowedError:
    'The microphone is not allowed. Allow it for this page (at the sign beside the address), and for the browser in ' +
    'the settings of the system; then press Record again.',
  NotFoundError: 'No microphone was found. Connect one and press Record again, or choose a file.',
  NotReadableError:
    'The microphone is there but gives no sound: another program may hold it. Close that and try again.',
  AbortError: 'The microphone was there but could not be started. Try again.',
}

/** Plain http is trusted only on the machine itself. */
function insecure(): string {
  const port = location.port || '80'
  return (
    `Browsers give the microphone only to pages over https or from localhost; this one came from ${location.origin}. ` +
    `Open it over https, or bring the port to your machine (ssh -L ${port}:localhost:${port} ${location.hostname}) ` +
    `and open http://localhost:${port}; or choose a file.`
  )
}
