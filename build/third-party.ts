/**
 * What the metadata of the packages omits: which C libraries are inside a WebAssembly or native package and under what
 * terms, and corrections where a package's own statement is missing or wrong. Read from the upstream sources.
 */
export interface Component {
  name: string
  /** Where it is not that of the package. */
  version?: string
  /** SPDX. */
  license: string
  source: string
  /** For the standard texts, which name no author. */
  copyright: string
  /** How we comply with the terms, if that takes more than the text. */
  note?: string
  /** Its own wording of the terms, a file of `third-party/`; absent: the standard text. */
  text?: string
}

/** Keyed by the package that contains it. */
export const inside: Readonly<Record<string, readonly Component[]>> = {
  'wasm-media-encoders': [
    {
      name: 'LAME',
      license: 'LGPL-2.0-or-later',
      source: 'https://lame.sourceforge.io',
      copyright: 'Copyright (c) 1999-2017 The LAME Project',
      note: 'Compiled to WebAssembly, unchanged; replace it by building this program with another wasm-media-encoders.',
    },
  ],
  '@mediabunny/aac-encoder': [
    {
      name: 'FFmpeg (libavcodec AAC encoder, libavutil)',
      license: 'LGPL-2.1-or-later',
      source: 'https://ffmpeg.org',
      copyright: 'Copyright (c) 2000-2026 the FFmpeg developers',
      note: 'Compiled to WebAssembly, without GPL parts; replace it by building with another @mediabunny/aac-encoder.',
    },
  ],
  '@mediabunny/flac-encoder': [
    {
      name: 'libFLAC',
      license: 'BSD-3-Clause',
      source: 'https://xiph.org/flac',
      copyright: 'Copyright (c) 2000-2009 Josh Coalson\nCopyright (c) 2011-2026 Xiph.Org Foundation',
    },
  ],
  '@wasm-audio-decoders/flac': [
    {
      name: 'libFLAC',
      license: 'BSD-3-Clause',
      source: 'https://xiph.org/flac',
      copyright: 'Copyright (c) 2000-2009 Josh Coalson\nCopyright (c) 2011-2026 Xiph.Org Foundation',
    },
  ],
  '@wasm-audio-decoders/ogg-vorbis': [
    {
      name: 'libvorbis, libogg',
      license: 'BSD-3-Clause',
      source: 'https://xiph.org/vorbis',
      copyright: 'Copyright (c) 2002-2026 Xiph.Org Foundation',
    },
  ],
  pako: [
    {
      name: 'zlib',
      license: 'Zlib',
      source: 'https://zlib.net',
      copyright: 'Copyright (c) 1995-2013 Jean-loup Gailly and Mark Adler',
      note: 'Ported to JavaScript.',
    },
  ],
  '@wasm-audio-decoders/common': [
    {
      name: 'puff',
      license: 'Zlib',
      source: 'https://github.com/madler/zlib/tree/master/contrib/puff',
      copyright: 'Copyright (c) 2002-2013 Mark Adler',
    },
  ],
  'audio-file-decoder': [
    {
      name: 'FFmpeg (libavcodec, libavformat, libavutil, libswresample)',
      license: 'LGPL-2.1-or-later',
      source: 'https://ffmpeg.org',
      copyright: 'Copyright (c) 2000-2021 the FFmpeg developers',
      note:
        'Compiled to WebAssembly by the package, without GPL parts; used for AAC only. Replace it by building this\n' +
        'program with another decode-audio.wasm of audio-file-decoder.',
    },
    {
      name: 'libopus',
      license: 'BSD-3-Clause',
      source: 'https://opus-codec.org',
      copyright:
        'Copyright 2001-2026 Xiph.Org, Skype Limited, Octasic, Jean-Marc Valin, Timothy B. Terriberry, CSIRO,\n' +
        'Gregory Maxwell, Mark Borgerding, Erik de Castro Lopo, Mozilla, Amazon',
    },
  ],
  'libopus-wasm': [
    {
      name: 'libopus',
      license: 'BSD-3-Clause',
      source: 'https://opus-codec.org',
      copyright:
        'Copyright 2001-2026 Xiph.Org, Skype Limited, Octasic, Jean-Marc Valin, Timothy B. Terriberry, CSIRO,\n' +
        'Gregory Maxwell, Mark Borgerding, Erik de Castro Lopo, Mozilla, Amazon',
    },
  ],
  'mpg123-decoder': [
    {
      name: 'libmpg123',
      license: 'LGPL-2.1-or-later',
      source: 'https://mpg123.org',
      copyright: 'Copyright (c) 1995-2026 Michael Hipp and the mpg123 project',
      note: 'Compiled to WebAssembly, unchanged; replace it by building this program with another mpg123-decoder.',
    },
  ],
  '@ricky0123/vad-web': [
    {
      name: 'Silero VAD v6 (silero_vad.onnx, the only file taken from this package)',
      license: 'MIT',
      source: 'https://github.com/snakers4/silero-vad',
      copyright: 'Copyright (c) 2020-present Silero Team',
    },
  ],
  '@img/sharp-libvips-linux-x64': [
    {
      name: 'libvips and the libraries in its file',
      license: 'LGPL-3.0-or-later',
      source: 'https://github.com/lovell/sharp-libvips',
      copyright: 'Copyright (c) the authors of libvips and of the libraries listed above',
      note:
        'You may replace it: the executable unpacks it as a file of its own,\n' +
        '<native folder>/native-<version>/img/sharp-libvips-linux-x64/lib/libvips-cpp.so.*\n' +
        '(`myna doctor` names the folder; MYNA_NATIVE_DIR sets it). Put your build there under the same name and\n' +
        'take its line out of `.complete` in native-<version>, so that it is not taken for a damaged file.',
    },
  ],
}

/** Data in this repository that was made from the work of others. */
export const data: readonly Component[] = [
  {
    name: 'CMU Pronouncing Dictionary',
    license: 'BSD-2-Clause',
    source: 'https://github.com/cmusphinx/cmudict',
    copyright: 'Copyright (C) 1993-2015 Carnegie Mellon University. All rights reserved.',
    note:
      'The dictionary is packed (src/phonemes/dictionary.zst), and a model of letters and phones was trained on it\n' +
      '(src/phonemes/letters.zst).',
    text: 'CMUdict',
  },
]

/** Models and libraries inside the executable, keyed by the package of the Python index that they are taken from. */
export const wheels: Readonly<Record<string, Component>> = {
  onnxruntime: {
    name: 'ONNX Runtime (libonnxruntime)',
    license: 'MIT',
    source: 'https://github.com/microsoft/onnxruntime',
    copyright: 'Copyright (c) Microsoft Corporation',
    note:
      'Only the library of the package onnxruntime is inside. It contains, among others, Abseil, ONNX, FlatBuffers\n' +
      '(Apache-2.0), Protocol Buffers, re2 (BSD-3-Clause), cpuinfo (BSD-2-Clause), nsync (Apache-2.0),\n' +
      'Eigen (MPL-2.0), nlohmann json, SafeInt, microsoft/GSL (MIT).\n' +
      'Their texts: https://github.com/microsoft/onnxruntime/blob/main/ThirdPartyNotices.txt',
  },
  av: {
    name: 'libopus',
    version: '1.6.1',
    license: 'BSD-3-Clause',
    source: 'https://opus-codec.org',
    copyright:
      'Copyright 2001-2026 Xiph.Org, Skype Limited, Octasic, Jean-Marc Valin, Timothy B. Terriberry, CSIRO,\n' +
      'Gregory Maxwell, Mark Borgerding, Erik de Castro Lopo, Mozilla, Amazon',
    note: 'Of the package av, which is PyAV with FFmpeg, only this library is inside.',
  },
  'hibari-tts': {
    name: 'hibari',
    license: 'Apache-2.0',
    source: 'https://github.com/MMWilliams/hibari',
    copyright: 'Copyright 2026 Maureese Williams',
    note:
      'Only the acoustic model (hibari.onnx) of the package hibari-tts is inside, with one more output and as\n' +
      'ONNX Runtime rewrites it, which changes none of its numbers. Its notice\n' +
      'follows; the parts that it names for pronouncing words are not inside.',
    text: 'hibari-tts-NOTICE',
  },
  'moonshine-voice': {
    name: 'Moonshine tiny, English',
    license: 'MIT',
    source: 'https://github.com/moonshine-ai/moonshine',
    copyright: 'Copyright (c) 2025 Moonshine AI',
    note: 'Only the tiny English model of the package moonshine-voice is inside, unchanged.',
  },
}

/** Packages without a licence file, each under a standard text: `third-party/<licence>.txt`. */
export const copyrights: Readonly<Record<string, string>> = {
  'onnxruntime-common': 'Copyright (c) Microsoft Corporation',
  'mpg123-decoder': 'Copyright (c) Ethan Halsall',
  '@wasm-audio-decoders/common': 'Copyright (c) Ethan Halsall',
  '@wasm-audio-decoders/flac': 'Copyright (c) Ethan Halsall',
  '@wasm-audio-decoders/ogg-vorbis': 'Copyright (c) Ethan Halsall',
  '@ricky0123/vad-web': 'Copyright (c) 2022-present ricky0123',
  zhead: 'Copyright (c) Harlan Wilton',
  '@tokenizer/token': 'Copyright (c) Borewit',
}

/** What the executable may contain: no code whose terms would extend to the program itself. */
export const allowed: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'LGPL-2.0-or-later',
  'LGPL-2.1-or-later',
  'LGPL-3.0-or-later',
  'MIT',
  'MPL-2.0',
  'Zlib',
])
