/** The entry point of the console: renders the app. */
import './style.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { oneSoundAtATime } from './parts/sound.ts'
import { applyTheme } from './parts/theme.tsx'

applyTheme()
oneSoundAtATime()
const place = document.getElementById('app')
if (place !== null) render(<App />, place)
