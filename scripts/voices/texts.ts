/** What voices say while they are measured. No shape and no formula was chosen with these sentences. */
export const texts = [
  'The lamp above the kitchen table had not been lit since the end of summer.',
  'If you follow the path along the wall, you will come to a green gate.',
  'My sister keeps all of her letters in a wooden box under the bed.',
  'The judge asked the witness to speak a little louder.',
  'There was fresh snow on the roof, and smoke rose straight from the chimney.',
  'Which of these three roads leads back to the village?',
  'He counted the coins twice and put them into the pocket of his coat.',
  'A thin layer of dust covered the books that nobody had borrowed.',
  'The ferry was late again, so we shared our bread with the gulls.',
  'You should have seen her face when the whole choir began to sing.',
  'Good evening, and thank you for waiting so patiently.',
  'The gardener cut the branches that reached over the fence.',
  'Some of the oldest trees in this valley were planted by monks.',
  'Do not open the oven before the bread has turned brown.',
  'They measured the depth of the lake with a rope and a stone.',
  'His watch had stopped, but the bells of the church told him the hour.',
  'The young doctor washed her hands and looked out of the window.',
  'Every evening the same dog sat in front of the same shop.',
]

/** Enough to tell clones from one another. */
export const fewTexts = texts.slice(0, 7)

/** What voices of a model read where there is no recording: a clip, and two more to compare with. */
export const readings = [
  [
    'I have lived in this house for most of my life, and I still find a new sound in it every winter, when the ' +
      'wind comes from the sea and the shutters knock.',
  ],
  ['The market opens early on Saturdays, and the best fruit is gone by the time that most people wake.'],
  ['Please remember that the smaller of the two keys opens the back door, and keep the other one safe.'],
] as const
