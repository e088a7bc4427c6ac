/**
 * The first page of a new server's administrator: the voices that are there, to hear at once, and the models worth
 * having, with their sizes, one click each, and how far each download is.
 */
import { useEffect } from 'preact/hooks'
import { send } from '../api.ts'
import { type Model, modelsPath, useModels } from '../models/record.ts'
import { announce } from '../parts/announce.tsx'
import { Bird } from '../parts/bird.tsx'
import { Progressing } from '../parts/controls.tsx'
import { bytes } from '../parts/format.ts'
import { useLoaded } from '../parts/loading.ts'
import type { PageProps } from '../parts/page.ts'
import { PreviewButton, previewOf } from '../parts/preview.tsx'
import { VoicePicture } from '../parts/voice-picture.tsx'
import type { Voice } from '../speak/options.tsx'
import { ModelOffer } from './offer.tsx'

/** Faces in a row; the Voices page has them all. */
const faces = 4

export function StartPage(_props: PageProps) {
  const models = useModels()
  const voices = useLoaded<{ data: Voice[] }>('/v1/audio/voices?limit=1000')
  const { value, reload } = models
  const offers = (value?.data ?? []).filter(({ recommended, state }) => recommended && state !== 'built_in')
  const installed = (value?.data ?? []).filter(({ state }) => state === 'installed').length
  useEffect(() => voices.reload(), [installed])
  const known = voices.value?.data ?? []
  const builtIn = known.filter(({ category }) => category === 'premade')
  return (
    <div class="page start">
      <Hero />
      {voices.value === null ? <FacesToCome /> : <Faces voices={builtIn.slice(0, faces)} />}
      <Progressing of={[models, voices]} />
      {value === null || voices.value === null ? null : <Worth offers={offers} voices={known} onChanged={reload} />}
    </div>
  )
}

interface WorthProps {
  offers: readonly Model[]
  voices: readonly Voice[]
  onChanged: () => void
}

/** The models worth having, and one button for the first of each task. */
function Worth({ offers, voices, onChanged }: WorthProps) {
  const first = firstOffers(offers)
  const missing = first.filter(({ state, pull }) => state === 'absent' && (pull === null || pull.state === 'failed'))
  const installAll = async () => {
    for (const { id } of missing) await send('POST', `${modelsPath}/${id}/pull`)
    onChanged()
  }
  const install = () => void installAll().catch((error: Error) => announce(error.message))
  return (
    <>
      <div class="head">
        <div>
          <h2>Worth having</h2>
          <p>Larger models sound more natural, clone voices in full and understand more languages.</p>
        </div>
        {missing.length === 0 ? null : (
          <button class="primary" onClick={install}>
            Install {missing.length === 1 ? (missing[0]?.name ?? 'it') : 'recommended'} (
            {bytes(missing.reduce((sum, { download_bytes: size }) => sum + size, 0))})
          </button>
        )}
      </div>
      {titles.map(([task, title]) => (
        <section class="grid" key={task} aria-label={title}>
          {offers
            .filter((offer) => offer.task === task)
            .map((offer) => (
              <ModelOffer
                key={offer.id}
                offer={offer}
                isFirst={first.includes(offer)}
                voice={voices.find(({ model }) => model === offer.id) ?? null}
                onChanged={onChanged}
              />
            ))}
        </section>
      ))}
      <p class="hint">
        All others are under <a href="#/models">Models</a>. Downloads come from the Hugging Face hub, at a fixed
        version, and are checked file by file.
      </p>
    </>
  )
}

const Hero = () => (
  <section class="start-hero night">
    <Bird size={88} />
    <div>
      <h1 tabIndex={-1}>Your machine can speak</h1>
      <p>Hear it: these voices are inside the program, and nothing leaves this machine.</p>
    </div>
    <a class="button" href="#/speak">
      Write something
    </a>
  </section>
)

/** The place of what is loading, so that nothing moves when it comes. */
const FacesToCome = () => (
  <div class="faces" aria-hidden="true">
    {Array.from({ length: faces }, (_, at) => (
      <div class="face" key={at}>
        <div class="picture skeleton" />
        <div class="face-words" />
      </div>
    ))}
  </div>
)

const Faces = ({ voices }: { voices: readonly Voice[] }) => (
  <div class="faces">
    {voices.map(({ voice_id: id, name, description }) => (
      <figure class="face" key={id}>
        <VoicePicture id={id} name={name} isReady />
        <figcaption class="face-words">
          <PreviewButton src={previewOf(id)} name={name} />
          <span>
            <strong>{name}</strong>
            <span class="hint">{description}</span>
          </span>
        </figcaption>
      </figure>
    ))}
  </div>
)

const titles = [
  ['text-to-speech', 'Voices'],
  ['automatic-speech-recognition', 'Transcription'],
] as const

/** The smallest of each task: what the one button installs. */
const firstOffers = (offers: readonly Model[]): Model[] =>
  titles.flatMap(([task]) => {
    const fitting = offers.filter((offer) => offer.task === task)
    return fitting.toSorted((a, b) => a.download_bytes - b.download_bytes)[0] ?? []
  })
