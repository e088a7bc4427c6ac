/**
 * Debian's Chromium for the tests of pages: headless and without network traffic of its own. Most pages are opened in
 * its small build without windows, if that is installed, because it takes half the processor time. That build has no
 * microphone, not even a fake one.
 */
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const executablePath = '/usr/bin/chromium'
const smallPath = '/usr/bin/chromium-headless-shell'

export const hasBrowser = existsSync(executablePath)
/** The reason printed when tests are skipped because it is missing. */
export const noBrowser = `skipped: no browser at ${executablePath} (Debian: apt-get install chromium)`

/**
 * A name that leads to this machine. A browser does not trust it without TLS; the server does, because no stranger can
 * own the name.
 */
export const untrustedHost = 'voice.lan'

const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run']
const bare = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--autoplay-policy=no-user-gesture-required',
  `--host-resolver-rules=MAP ${untrustedHost} 127.0.0.1`,
]

/** Its pages know of no devices. */
export const launchBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: existsSync(smallPath) ? smallPath : executablePath, args: [...bare, ...quiet] })

/** @param microphoneWav what the fake microphone plays in a loop; null: there is no microphone */
export function launchWithDevices(microphoneWav: string | null): Promise<Browser> {
  const fake = ['--use-fake-device-for-media-stream', `--use-file-for-fake-audio-capture=${microphoneWav}`]
  return chromium.launch({ executablePath, args: [...bare, ...quiet, ...(microphoneWav === null ? [] : fake)] })
}
