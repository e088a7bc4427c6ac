/** The spoken texts: always the same ones, with the usual lengths for assistants, books and announcements. */

export const texts: readonly string[] = [
  'Yes, of course.',
  'The kettle has boiled.',
  'Your meeting with the auditors was moved to half past three.',
  'Turn left after the bridge, then follow the river until you see the old mill.',
  'It rained all morning, and by noon the little stream behind the house had become a brown river that carried whole ' +
    'branches past the kitchen window.',
  'Three things are needed for good bread. The first is time, which nobody has. The second is heat, and more of it ' +
    'than you think. The third is salt.',
  'Nobody in the village could say when the clock had stopped. Some thought of the winter with the great frost, ' +
    'others of the summer in which the old teacher died. The hands stood at ten minutes past four, and so, in a way, ' +
    'it was always tea time.',
  'Thank you for calling. All of our colleagues are busy at the moment, because a storm has cut the power in several ' +
    'parts of the town. If you call about the storm, you need not wait: the crews are on their way, and most houses ' +
    'will have light again before the evening. If you call about a bill, please have your customer number at hand. ' +
    'It has eight digits and stands at the top of every letter that we send to you.',
]

export const shortTexts: readonly string[] = ['Yes.', 'No, thank you.', 'Good morning.', 'It is done.']
