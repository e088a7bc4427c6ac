/** The icons: strokes on a field of 24, in the colour and size of the text around them. Decoration, never a name. */
const strokes = {
  speak: 'M4 10v4M8 6v12M12 3v18M16 7v10M20 10v4',
  voices: 'M5 8a4 4 0 1 0 8 0a4 4 0 1 0-8 0M2 21a7 7 0 0 1 14 0M17 5a5 5 0 0 1 0 6M20 3a9 9 0 0 1 0 10',
  transcribe: 'M6 3h8l5 5v13H6zM9 11h7M9 14.5h7M9 18h4',
  connect: 'M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4',
  usage: 'M4 4v16h16M9 16v-4M14 16V8M19 16v-7',
  operations: 'M3 12h4l3-8 4 16 3-8h4',
  models: 'M12 2.5l8.5 4.800v9.400L12 21.5l-8.5-4.800V7.300zM3.5 7.300l8.5 4.700 8.5-4.700M12 12v9.5',
  accounts: 'M5 8a4 4 0 1 0 8 0a4 4 0 1 0-8 0M2 21a7 7 0 0 1 14 0M17 4.5a4 4 0 0 1 0 7.200M19 14.5a7 7 0 0 1 3 6.5',
  server: 'M4 4h16v7H4zM4 13h16v7H4zM8 7.5h.01M8 16.5h.01',
  sliders: 'M4 6h10M18 6h2M4 12h2M10 12h10M4 18h7M15 18h5M16 4v4M8 10v4M13 16v4',
  play: 'M7 4.5v15l12-7.5z',
  pause: 'M8 5v14M16 5v14',
  stop: 'M7 7h10v10H7z',
  download: 'M12 3v12M7 10l5 5 5-5M4 20h16',
  upload: 'M12 16V4M7 9l5-5 5 5M4 20h16',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  edit: 'M4 20l1-4L16 5l3 3L8 19zM14 7l3 3',
  search: 'M4 11a7 7 0 1 0 14 0a7 7 0 1 0-14 0M16 16l5 5',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6L6 18',
  check: 'M5 13l4 4L19 7',
  sun:
    'M8 12a4 4 0 1 0 8 0a4 4 0 1 0-8 0M12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5L19 19M19 5l-1.5 1.5' +
    'M6.5 17.5L5 19',
  moon: 'M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z',
  screen: 'M3 4h18v12H3zM8 20h8M12 16v4',
  keyboard: 'M2 6h20v12H2zM6 10h.01M10 10h.01M14 10h.01M18 10h.01M7 14h10',
  out: 'M10 4H5v16h5M14 8l4 4-4 4M18 12H9',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  mic: 'M9 6a3 3 0 0 1 6 0v5a3 3 0 0 1-6 0zM5 11a7 7 0 0 0 14 0M12 18v3',
  down: 'M6 9l6 6 6-6',
  again: 'M20 11a8 8 0 1 0-2 6M20 4v7h-7',
  book: 'M12 6c-2-2-5-2-8-2v14c3 0 6 0 8 2 2-2 5-2 8-2V4c-3 0-6 0-8 2zM12 6v14',
  key: 'M3 16a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0-9 0M11 13l9-9M16 8l3 3',
  star: 'M12 3l2.800 5.700 6.200.900-4.500 4.400 1.100 6.200-5.600-3-5.600 3 1.100-6.200L3 9.600l6.200-.900z',
  clock: 'M3 12a9 9 0 1 0 18 0a9 9 0 1 0-18 0M12 7v5l3 2',
} as const

export type IconName = keyof typeof strokes

const solid: readonly IconName[] = ['play', 'stop']

export const Icon = ({ name }: { name: IconName }) => (
  <svg class={solid.includes(name) ? 'icon-mark solid' : 'icon-mark'} viewBox="0 0 24 24" aria-hidden="true">
    <path d={strokes[name]} />
  </svg>
)
