/**
 * Starts the page in a browser.
 * @module
 */
import { render } from 'hono/jsx/dom'
import { App } from './app.tsx'
import { takeToken } from './session.ts'

const root = document.getElementById('app')
if (root !== null) {
  const token = takeToken({
    storage: sessionStorage,
    path: location.pathname,
    replacePath: (path) => history.replaceState(null, '', path),
  })
  const isPublic = document.documentElement.dataset.access === 'public'
  root.textContent = ''
  render(<App token={token} isPublic={isPublic} />, root)
}
