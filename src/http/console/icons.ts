/** The bird as an icon: of the browser's tab, and of the installed app. */

const bird =
  '<linearGradient id="m" x1="0" y1="1" x2="1" y2="0"><stop offset="0" stop-color="#6b1d80"/>' +
  '<stop offset=".45" stop-color="#d8456c"/><stop offset=".85" stop-color="#fb8761"/></linearGradient>' +
  '<path fill="url(#m)" d="M4 56C5 40 13 28 22 20C27 13 32 9 39 9C48 9 54 15 54 23C54 39 45 50 30 51C21 51.6 15 53 4 ' +
  '56Z"/><path fill="#0b0708" opacity=".28" d="M16 46C20 36 28 31 40 31C40 41 32 47 22 47.5Z"/>' +
  '<path fill="#ffb02e" d="M52.5 16.5L63 22.5L52 26Z"/>' +
  '<path fill="#ffc46b" d="M40 17C46 15 49 19 49 23C49 27 44 27 41 24C39 22 38 18 40 17Z"/>' +
  '<circle cx="43.5" cy="19.8" r="2.9" fill="#0b0708"/>'

const namespace = 'xmlns="http://www.w3.org/2000/svg"'

/** Without a ground, for a tab of any colour. */
export const iconSvg = `<svg ${namespace} viewBox="0 0 64 64">${bird}</svg>`

/** On near-black with a margin: systems cut app icons to shapes of their own. */
const appIconSvg =
  `<svg ${namespace} viewBox="0 0 64 64"><rect width="64" height="64" fill="#0b0708"/>` +
  `<g transform="translate(14 14) scale(.56)">${bird}</g></svg>`

/** Drawn when an installing browser asks for it, which few do. @param sidePx of the square */
export async function appIconPng(sidePx: number): Promise<Blob> {
  const { default: sharp } = await import('sharp')
  const png = await sharp(Buffer.from(appIconSvg), { density: 72 * (sidePx / 64) })
    .resize(sidePx, sidePx)
    .png()
    .toBuffer()
  return new Blob([new Uint8Array(png)])
}

/** What makes the console installable as an app. There is no service worker: nothing is answered from a cache. */
export const manifest = {
  id: '/console',
  name: 'Myna',
  description: 'Speech, cloned voices and transcripts, made on your own machine',
  start_url: '/console',
  scope: '/',
  display: 'standalone',
  background_color: '#0b0708',
  theme_color: '#0b0708',
  icons: [
    { src: '/console/icon-192.png', sizes: '192x192', type: 'image/png', purpose: 'any maskable' },
    { src: '/console/icon-512.png', sizes: '512x512', type: 'image/png', purpose: 'any maskable' },
    { src: '/console/icon.svg', sizes: 'any', type: 'image/svg+xml' },
  ],
}
