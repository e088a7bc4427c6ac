/** Something to read aloud while recording: half a minute of plain speech with every sound of the language in it. */
import { useState } from 'preact/hooks'

const texts: Readonly<Record<string, string>> = {
  en:
    'When the light changes in the evening, I like to walk along the river and listen. A small bird repeats what it ' +
    'heard during the day: a bicycle bell, two children laughing, a man calling his dog. What would you teach it, if ' +
    'you had the time? I think I would choose a good question, and wait for the answer.',
  de:
    'Wenn sich abends das Licht verändert, gehe ich gern am Fluss entlang und höre zu. Ein kleiner Vogel wiederholt, ' +
    'was er am Tag gehört hat: eine Fahrradklingel, zwei lachende Kinder, jemanden, der einen Hund ruft. Was würdest ' +
    'du ihm beibringen, wenn du Zeit hättest? Ich glaube, eine gute Frage.',
  fr:
    'Le soir, quand la lumière change, j’aime marcher au bord de la rivière et écouter. Un petit oiseau répète ce ' +
    'qu’il a entendu dans la journée : une sonnette de vélo, deux enfants qui rient, quelqu’un qui appelle un chien. ' +
    'Que lui apprendriez-vous, si vous aviez le temps ? Moi, je choisirais une bonne question.',
  es:
    'Por la tarde, cuando cambia la luz, me gusta caminar junto al río y escuchar. Un pájaro pequeño repite lo que ' +
    'ha oído durante el día: el timbre de una bicicleta, dos niños que ríen, alguien que llama a un perro. ¿Qué le ' +
    'enseñarías tú, si tuvieras tiempo? Yo elegiría una buena pregunta.',
}

const names: Readonly<Record<string, string>> = { en: 'English', de: 'Deutsch', fr: 'Français', es: 'Español' }

const ownLanguage = (): string => {
  const code = navigator.language.split('-')[0] ?? ''
  return texts[code] === undefined ? 'en' : code
}

export function Reading() {
  const [language, setLanguage] = useState(ownLanguage)
  return (
    <figure class="read-aloud">
      <figcaption class="row apart">
        <span class="label">Read this aloud, or say what you like</span>
        <select
          class="pick-one"
          aria-label="Language of the text"
          value={language}
          onChange={({ currentTarget }) => setLanguage(currentTarget.value)}
        >
          {Object.entries(names).map(([code, name]) => (
            <option key={code} value={code}>
              {name}
            </option>
          ))}
        </select>
      </figcaption>
      <blockquote lang={language}>{texts[language]}</blockquote>
    </figure>
  )
}
