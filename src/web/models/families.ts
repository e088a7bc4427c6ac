/** The families of models in the words of this page, by architecture. */

interface Family {
  name: string
  about: string
}

const families: Readonly<Record<string, Family>> = {
  hibari: { name: 'Hibari', about: 'Built in: small, natural English voices.' },
  pocket: { name: 'Pocket TTS', about: 'Natural voices and true clones; a model for each language.' },
  kokoro: { name: 'Kokoro', about: 'Many voices in six languages, and mixtures of them.' },
  whisper: { name: 'Whisper', about: '99 languages. Larger models make fewer mistakes and take longer.' },
  parakeet: { name: 'Parakeet', about: 'European languages, fast and accurate on a CPU.' },
  moonshine: { name: 'Moonshine', about: 'Built in: English.' },
}

export const familyOf = (architecture: string): Family => families[architecture] ?? { name: architecture, about: '' }
