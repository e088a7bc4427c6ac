/** What the built-in voices say while they are measured. No shape was chosen with these sentences. */
export const texts = [
  'A row of painted boats was tied to the wooden pier below the inn.',
  'Please leave your wet umbrella by the door before you come upstairs.',
  'The choir had practised the same four lines for most of the afternoon.',
  'My uncle repairs old clocks, though he never knows what time it is.',
  'Could we stop at the bakery on our way back from school?',
  'Fresh basil and a little salt are all that this soup needs.',
  'The path grew steeper, so they rested beneath a crooked pine.',
  'She folded the map, put it in her jacket, and started the engine.',
  'Half of the seats were empty when the second act began.',
  'Nothing in the letter explained why the house had been sold.',
  'Our neighbors keep bees, and every autumn they bring us honey.',
  'The children built a bridge of stones across the shallow stream.',
  'I have read this page three times and still cannot follow it.',
  'An early frost had killed the tomatoes but spared the pumpkins.',
  'When the lights went out, someone laughed and lit a candle.',
  'How many chairs should we carry into the garden for tonight?',
  'The nurse spoke softly, and the old man nodded and closed his eyes.',
  'Thank you for your patience; the next train leaves in eleven minutes.',
]

/** What clones say: enough to tell them from one another. */
export const fewTexts = [
  'The lamp above the kitchen table had not been lit since the end of summer.',
  'If you follow the path along the wall, you will come to a green gate.',
  'My sister keeps all of her letters in a wooden box under the bed.',
  'The judge asked the witness to speak a little louder.',
  'There was fresh snow on the roof, and smoke rose straight from the chimney.',
  'Which of these three roads leads back to the village?',
  'He counted the coins twice and put them into the pocket of his coat.',
]

/** What voices of a model read where there is no recording: a clip, and two more to compare with. */
export const readings = [
  [
    'I have lived in this house for most of my life, and I still find a new sound in it every winter, when the ' +
      'wind comes from the sea and the shutters knock.',
  ],
  ['The market opens early on Saturdays, and the best fruit is gone by the time that most people wake.'],
  ['Please remember that the smaller of the two keys opens the back door, and keep the other one safe.'],
] as const
