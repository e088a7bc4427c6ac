/** The entry point of the console: renders the app. */
import './style.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { applyTheme } from './parts/theme.tsx'

applyTheme()
const place = document.getElementById('app')
if (place !== null) render(<App />, place)
