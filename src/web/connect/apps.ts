/** Shows how programs are pointed at this server: for each the settings or the code, with address and key filled in. */

export interface Recipe {
  about: string
  blocks: readonly Block[]
  /** What else there is to know. */
  note?: string
}

export interface Block {
  label: string
  text: string
}

export interface Given {
  /** With `/v1`. */
  base: string
  key: string
  /** Without scheme and port. */
  host: string
  /** Of Home Assistant's protocol; null: the server does not speak it. */
  wyomingPort: number | null
}

interface App {
  id: string
  title: string
  /** It usually runs in a container, beside the server. */
  isInDocker?: true
  recipe: (given: Given) => Recipe
}

const hello = 'Hello. This is my own voice service.'

const curl = ({ base, key }: Given): Recipe => ({
  about: 'In a terminal: speech into a file, and the file back into text.',
  blocks: [
    {
      label: 'Speak',
      text: [
        `curl ${base}/audio/speech -o hello.mp3 \\`,
        `  -H "Authorization: Bearer ${key}" \\`,
        `  -d '{"model": "tts-1", "voice": "nova", "input": "${hello}"}'`,
      ].join('\n'),
    },
    {
      label: 'Transcribe',
      text: [
        `curl ${base}/audio/transcriptions \\`,
        `  -H "Authorization: Bearer ${key}" \\`,
        '  -F model=whisper-1 -F file=@hello.mp3',
      ].join('\n'),
    },
  ],
})

const python = ({ base, key }: Given): Recipe => ({
  about: 'With OpenAI’s own library: pip install openai',
  blocks: [
    {
      label: 'hello.py',
      text: [
        'from openai import OpenAI',
        '',
        `client = OpenAI(base_url="${base}", api_key="${key}")`,
        'with client.audio.speech.with_streaming_response.create(',
        `    model="tts-1", voice="nova", input="${hello}"`,
        ') as speech:',
        '    speech.stream_to_file("hello.mp3")',
        'with open("hello.mp3", "rb") as file:',
        '    print(client.audio.transcriptions.create(model="whisper-1", file=file).text)',
      ].join('\n'),
    },
  ],
})

const javascript = ({ base, key }: Given): Recipe => ({
  about: 'With OpenAI’s own library: npm install openai. Keep the key on a server; a web page would show it.',
  blocks: [
    {
      label: 'hello.mjs',
      text: [
        "import { createReadStream } from 'node:fs'",
        "import { writeFile } from 'node:fs/promises'",
        "import OpenAI from 'openai'",
        '',
        `const client = new OpenAI({ baseURL: '${base}', apiKey: '${key}' })`,
        'const speech = await client.audio.speech.create({',
        `  model: 'tts-1', voice: 'nova', input: '${hello}',`,
        '})',
        "await writeFile('hello.mp3', Buffer.from(await speech.arrayBuffer()))",
        "const file = createReadStream('hello.mp3')",
        "const { text } = await client.audio.transcriptions.create({ model: 'whisper-1', file })",
        'console.log(text)',
      ].join('\n'),
    },
  ],
})

const openWebUi = ({ base, key }: Given): Recipe => ({
  about: 'Admin Panel, Settings, Audio: choose the engine OpenAI for speech to text and for text to speech.',
  blocks: [
    { label: 'API base URL, in both', text: base },
    { label: 'API key, in both', text: key },
    {
      label: 'Or, when its container starts',
      text: [
        '-e AUDIO_TTS_ENGINE=openai \\',
        `-e AUDIO_TTS_OPENAI_API_BASE_URL=${base} \\`,
        `-e AUDIO_TTS_OPENAI_API_KEY=${key} \\`,
        '-e AUDIO_TTS_MODEL=tts-1 \\',
        '-e AUDIO_TTS_VOICE=nova \\',
        '-e AUDIO_STT_ENGINE=openai \\',
        `-e AUDIO_STT_OPENAI_API_BASE_URL=${base} \\`,
        `-e AUDIO_STT_OPENAI_API_KEY=${key} \\`,
        '-e AUDIO_STT_MODEL=whisper-1',
      ].join('\n'),
    },
  ],
  note:
    'The list of voices fills itself. On Linux, start the container with ' +
    '--add-host host.docker.internal:host-gateway.',
})

const homeAssistant = ({ host, wyomingPort }: Given): Recipe => ({
  about:
    'Settings, Devices & services: Myna is found by itself on the same network. Otherwise add the integration ' +
    '“Wyoming Protocol” with this host and port.',
  blocks:
    wyomingPort === null
      ? [{ label: 'First start the server with', text: 'myna serve --wyoming 0.0.0.0:10300' }]
      : [
          { label: 'Host', text: host },
          { label: 'Port', text: String(wyomingPort) },
        ],
  note: 'Wyoming has no keys: everyone who reaches its port can use it.',
})

const sillyTavern = ({ base, key }: Given): Recipe => ({
  about: 'Extensions, TTS: choose the provider “OpenAI Compatible”.',
  blocks: [
    { label: 'Provider endpoint', text: `${base}/audio/speech` },
    { label: 'API key', text: key },
    { label: 'Model', text: 'tts-1' },
    { label: 'Available voices', text: 'alloy,echo,fable,nova,onyx,shimmer' },
  ],
})

const liveKit = ({ base, key }: Given): Recipe => ({
  about: 'With the OpenAI plug-in of LiveKit Agents: pip install "livekit-agents[openai]"',
  blocks: [
    {
      label: 'agent.py',
      text: [
        'from livekit.plugins import openai',
        '',
        `tts = openai.TTS(base_url="${base}", api_key="${key}", model="tts-1", voice="nova")`,
        `stt = openai.STT(base_url="${base}", api_key="${key}", model="whisper-1")`,
      ].join('\n'),
    },
  ],
})

export const apps: readonly App[] = [
  { id: 'curl', title: 'curl', recipe: curl },
  { id: 'python', title: 'Python', recipe: python },
  { id: 'javascript', title: 'JavaScript', recipe: javascript },
  { id: 'open-webui', title: 'Open WebUI', isInDocker: true, recipe: openWebUi },
  { id: 'home-assistant', title: 'Home Assistant', recipe: homeAssistant },
  { id: 'sillytavern', title: 'SillyTavern', recipe: sillyTavern },
  { id: 'livekit', title: 'LiveKit', recipe: liveKit },
]
