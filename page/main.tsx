/**
 * Starts the page in a browser.
 * @module
 */
import { render } from 'hono/jsx/dom'
import { App } from './app.tsx'
import { finishLogin, readPlaces, takeRedirect } from './login.ts'
import { readPerson, takeToken } from './session.ts'

const root = document.getElementById('app')
if (root !== null) {
  const storage = sessionStorage
  const replacePath = (path: string): void => history.replaceState(null, '', path)
  const { access, logins } = document.documentElement.dataset
  const places = readPlaces(logins)
  const redirect = places.length > 0 && takeRedirect(location.search, replacePath)
  const login = redirect && finishLogin(redirect, places, { storage, origin: location.origin })
  const token = takeToken({ storage, path: location.pathname, replacePath })
  const visitor = { token, person: readPerson(storage) }
  root.textContent = ''
  render(
    <App
      visitor={visitor}
      isPublic={access === 'public'}
      places={places}
      {...(login && { login })}
    />,
    root,
  )
}
