/**
 * Sets up the visitor's device: recipes with this gateway's origin, the token and the domain.
 * @module
 */
import { useState } from 'hono/jsx/dom'
import { Command } from './command.tsx'
import { GatewayFailure, readKitFile } from './gateway.ts'
import type { Person } from './login.ts'
import type { Zone } from './names.ts'
import { isSecure, type Recipe, recipesOf, SYSTEMS, type System, systemOf } from './recipes.ts'
import { SignIn, type SignInState } from './sign-in.tsx'
import { formatUntil, visible } from './visible.ts'

/** How long a file to download stays: ten seconds. */
const READ_MS = 10_000

/** The recipes of one system, the visitor's at first. */
export function Setup({
  token,
  person,
  zones,
  isPublic,
  signIn,
}: {
  readonly token: string
  readonly person?: Person | undefined
  readonly zones: readonly Zone[]
  readonly isPublic: boolean
  readonly signIn: SignInState
}) {
  const own = isPublic ? '' : token
  const domain =
    zones.find(({ zone }) => !zone.endsWith('.local.'))?.zone ?? zones[0]?.zone ?? 'ZONE.'
  const place = { origin: location.origin, token: own, domain: domain.slice(0, -1) }
  const [system, setSystem] = useState<System>(
    isSecure(place) ? systemOf(navigator.userAgent) : 'Terminal',
  )
  const recipes = recipesOf(system, place)
  // A certificate or a login of Access belongs to this browser, not to devices and programs.
  if (!isPublic && token === '') {
    return (
      <section class="card setup" aria-labelledby="setup-title">
        <h2 id="setup-title">Set up this device</h2>
        <p class="hint">
          Devices and programs need a token, and you are signed in without one.{' '}
          {signIn.places.length > 0
            ? 'Sign in here for one of your own.'
            : 'Ask the operator of this gateway for a link with a token.'}
        </p>
        <SignIn {...signIn} />
      </section>
    )
  }
  return (
    <section class="card setup" aria-labelledby="setup-title">
      <h2 id="setup-title">Set up this device</h2>
      <fieldset class="segments wide">
        <legend class="sr">System</legend>
        {SYSTEMS.map((one) => (
          <label key={one}>
            <input
              type="radio"
              name="system"
              value={one}
              checked={one === system}
              onChange={() => setSystem(one)}
            />
            <span>{one}</span>
          </label>
        ))}
      </fieldset>
      {recipes.length === 0 && (
        <p class="hint">
          Browsers and systems use DNS over HTTPS by https: URLs only, and this page came without
          TLS. Open the gateway by its https: URL.
        </p>
      )}
      {person !== undefined && !isPublic && <Own person={person} />}
      <ol class="recipes">
        {recipes.map((recipe) => (
          <li key={`${system} ${recipe.title}`}>
            <Steps recipe={recipe} token={own} />
          </li>
        ))}
      </ol>
    </section>
  )
}

function Own({ person: { issuer, untilMs } }: { readonly person: Person }) {
  return (
    <p class="hint">
      These steps have a token of your own, from your login at {visible(new URL(issuer).host)}. It
      counts until {formatUntil(untilMs, Date.now())}; then sign in again for a new one. After{' '}
      <code>kubedoh login</code>, commands renew theirs.
    </p>
  )
}

function Steps({
  recipe: { title, text, command, file },
  token,
}: {
  readonly recipe: Recipe
  readonly token: string
}) {
  return (
    <>
      <h3>{title}</h3>
      <p>{text}</p>
      {command !== '' && <Command text={command} secret={token} />}
      {file !== undefined && <Download file={file} token={token} />}
    </>
  )
}

function Download({ file, token }: { readonly file: string; readonly token: string }) {
  const [problem, setProblem] = useState('')
  const save = async (): Promise<void> => {
    try {
      const url = URL.createObjectURL(await readKitFile(file, { token }))
      const link = document.createElement('a')
      link.href = url
      link.download = file
      link.click()
      // Safari begins to read it after the click.
      setTimeout(() => URL.revokeObjectURL(url), READ_MS)
      setProblem('')
    } catch (error) {
      setProblem(error instanceof GatewayFailure ? error.failure.message : String(error))
    }
  }
  return (
    <p>
      <button type="button" onClick={() => void save()}>
        Download {file}
      </button>
      <span class="problem" role="status">
        {visible(problem)}
      </span>
    </p>
  )
}
