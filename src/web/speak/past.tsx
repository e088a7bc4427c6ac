/** Shows what was spoken before, beside the text: to hear again, to keep, to speak again with another voice. */
import { useState } from 'preact/hooks'
import { Ask } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { ago, clock, counted } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'
import { deck } from '../player/deck.ts'
import { FileLink, useDeck } from '../player/player.tsx'
import type { Take } from './history.ts'
import { studio, trackOf } from './studio.ts'

interface PastProps {
  /** null: not read yet. */
  takes: readonly Take[] | null
  onAgain: (take: Take) => void
}

/** Further ones on demand. */
const shownAtOnce = 30

export function Past({ takes, onAgain }: PastProps) {
  const [isAsking, setIsAsking] = useState(false)
  const [shown, setShown] = useState(shownAtOnce)
  const { track, isPlaying } = useDeck()
  const forgetAll = async () => {
    await studio.forgetAll()
    setIsAsking(false)
  }
  return (
    <section class="card past" aria-label="History">
      <div class="row apart">
        <h2>History</h2>
        {takes === null || takes.length === 0 ? null : (
          <button type="button" class="quiet small" onClick={() => setIsAsking(true)}>
            Clear
          </button>
        )}
      </div>
      {takes === null ? <div class="skeleton past-place" /> : null}
      {takes?.length === 0 ? (
        <Empty title="Nothing spoken yet">What you make stays here, in this browser, with its sound.</Empty>
      ) : null}
      <ul>
        {(takes ?? []).slice(0, shown).map((take) => (
          <PastTake key={take.id} take={take} isHeard={isPlaying && track?.id === take.id} onAgain={onAgain} />
        ))}
      </ul>
      {(takes?.length ?? 0) > shown ? (
        <button type="button" class="small" onClick={() => setShown(shown + shownAtOnce)}>
          Show more
        </button>
      ) : null}
      {isAsking ? (
        <Ask
          title="Clear the history?"
          action="Delete all"
          isDestructive
          onYes={forgetAll}
          onClose={() => setIsAsking(false)}
        >
          <p>This deletes the texts and recordings that this browser keeps. The server keeps none of them.</p>
        </Ask>
      ) : null}
    </section>
  )
}

interface TakeProps {
  take: Take
  isHeard: boolean
  onAgain: (take: Take) => void
}

function PastTake({ take, isHeard, onAgain }: TakeProps) {
  const track = trackOf(take)
  const toggle = () => {
    if (deck.track?.id === take.id) deck.toggle()
    else deck.play(track)
  }
  return (
    <li class={deck.track?.id === take.id ? 'here' : undefined}>
      <button type="button" class="round" aria-label={`${isHeard ? 'Pause' : 'Play'}: ${track.title}`} onClick={toggle}>
        <Icon name={isHeard ? 'pause' : 'play'} />
      </button>
      <div class="past-words">
        <p dir="auto">{track.title}</p>
        <p class="hint numbers">
          <bdi class="past-voice">{take.voiceName}</bdi> · {clock(take.seconds)} ·{' '}
          {ago(take.createdAtMs / 1000, Date.now())}
          {take.isWhole ? '' : ' · incomplete'}
          {take.chapters === undefined ? '' : ` · ${counted(take.chapters, 'chapter')}`}
        </p>
      </div>
      <div class="past-acts">
        <FileLink file={take.file} name={track.fileName} />
        {take.chapters === undefined ? (
          <button
            type="button"
            class="quiet icon"
            aria-label="Speak again with another voice"
            title="Speak again with another voice"
            onClick={() => onAgain(take)}
          >
            <Icon name="again" />
          </button>
        ) : null}
        <button
          type="button"
          class="quiet icon"
          aria-label="Delete"
          title="Delete"
          onClick={() => void studio.forget(take.id)}
        >
          <Icon name="trash" />
        </button>
      </div>
    </li>
  )
}
