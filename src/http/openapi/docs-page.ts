/**
 * The page around the API's document: a quick start above it, and Myna's colours over Swagger UI's own. Its scripts are
 * files, so that the policy need not allow inline ones; none of them knows another host.
 */

export interface PageDigests {
  swaggerStyle: string
  swaggerScript: string
  style: string
  theme: string
  start: string
}

/** @param digests of the files, which are part of their addresses */
export const docsPage = (digests: PageDigests): string => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Myna API</title>
    <link rel="icon" href="/console/icon.svg">
    <script src="/docs/theme.js?v=${digests.theme}"></script>
    <link rel="stylesheet" href="/docs/swagger-ui.css?v=${digests.swaggerStyle}">
    <link rel="stylesheet" href="/docs/myna.css?v=${digests.style}">
    <script src="/docs/swagger-ui-bundle.js?v=${digests.swaggerScript}" defer></script>
    <script src="/docs/start.js?v=${digests.start}" defer></script>
  </head>
  <body>
    <header class="top">
      <a class="brand" href="/console"><img src="/console/icon.svg" alt="" width="34" height="34"> Myna</a>
      <a href="/console">Console</a>
      <a href="/openapi.json">openapi.json</a>
    </header>
    <section class="quick">
      <h1>One base URL, any OpenAI client</h1>
      <p class="base"><code data-base>/v1</code> ${copyButton('the base URL')}</p>
      <p>Put a key from the <a href="/console#/connect">console</a> in place of <code>$KEY</code>, and listen. In the
        shell, <code>export KEY=sk-myna-…</code> does it.</p>
      <div class="samples">${samples().join('')}</div>
    </section>
    <main id="docs"></main>
    <noscript>This page needs JavaScript. The API is described in <a href="/openapi.json">/openapi.json</a>.</noscript>
  </body>
</html>
`

const copyButton = (what: string): string => `<button type="button" data-copy aria-label="Copy ${what}">Copy</button>`

const base = '<span data-base>/v1</span>'

const samples = () =>
  languages.map(
    ([name, code]) =>
      `<figure><figcaption>${name} ${copyButton(name)}</figcaption><pre tabindex="0">${code}</pre></figure>`,
  )

const languages: readonly (readonly [name: string, code: string])[] = [
  [
    'Shell',
    `curl ${base}/audio/speech \\
  -H "Authorization: Bearer $KEY" \\
  -d '{"input": "Hello there."}' \\
  -o hello.mp3

curl ${base}/audio/transcriptions \\
  -H "Authorization: Bearer $KEY" \\
  -F file=@hello.mp3`,
  ],
  [
    'Python',
    `from openai import OpenAI
client = OpenAI(
    base_url="${base}",
    api_key="$KEY",
)
client.audio.speech.create(
    model="tts-1", voice="alloy",
    input="Hello there.",
).write_to_file("hello.mp3")`,
  ],
  [
    'JavaScript',
    `import { writeFile } from 'node:fs/promises'
import OpenAI from 'openai'
const client = new OpenAI({
  baseURL: '${base}',
  apiKey: '$KEY',
})
const speech = await client.audio.speech.create({
  model: 'tts-1', voice: 'alloy',
  input: 'Hello there.',
})
const mp3 = await speech.arrayBuffer()
await writeFile('hello.mp3', Buffer.from(mp3))`,
  ],
]

/** Runs before anything is painted: uses the theme chosen in the console, otherwise the system's. */
export const themeScript = `const chosen = localStorage.getItem('myna-theme')
const system = matchMedia('(prefers-color-scheme: dark)')
const paint = () => {
  const isDark = chosen === 'dark' || (chosen !== 'light' && system.matches)
  document.documentElement.classList.toggle('dark-mode', isDark)
}
system.addEventListener('change', paint)
paint()
`

/**
 * No validator, because that is on another host, and no link to the licence, for the same reason. The plug-in gives the
 * audio player what was received; swagger-ui would request the address again, by GET.
 */
export const startScript = `const address = location.origin + '/v1'
for (const place of document.querySelectorAll('[data-base]')) place.textContent = address
for (const copy of document.querySelectorAll('[data-copy]')) {
  copy.hidden = navigator.clipboard === undefined
  copy.addEventListener('click', async () => {
    await navigator.clipboard.writeText(copy.closest('figure')?.querySelector('pre').textContent ?? address)
    copy.textContent = 'Copied'
  })
}
const received = new WeakMap()
const addressOf = (blob) => {
  if (!received.has(blob)) received.set(blob, URL.createObjectURL(blob))
  return received.get(blob)
}
const ours = ({ React }) => ({
  wrapComponents: {
    License: (_, { specSelectors }) => () => React.createElement('p', null, specSelectors.license().get('name')),
    responseBody: (Body) => (props) => {
      const playable = /^audio\\//.test(props.contentType) && props.content instanceof Blob
      return React.createElement(Body, playable ? { ...props, url: addressOf(props.content) } : props)
    },
  },
})
SwaggerUIBundle({
  url: '/openapi.json',
  dom_id: '#docs',
  plugins: [ours],
  validatorUrl: null,
  deepLinking: true,
  tryItOutEnabled: true,
  displayRequestDuration: true,
  defaultModelsExpandDepth: 0,
})
`
