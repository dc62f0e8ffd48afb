/**
 * Buttons to sign in with, and why a login did not end well.
 * @module
 */
import { useState } from 'hono/jsx/dom'
import { Command } from './command.tsx'
import { beginLogin, LoginFailure, type LoginPlace, labelOf } from './login.ts'
import { visible } from './visible.ts'

/** Where somebody can sign in, and what became of the last login. */
export type SignInState = {
  readonly places: readonly LoginPlace[]
  readonly failure: LoginFailure | undefined
}

/** A button for each place; nothing where there is none. */
export function SignIn({ places, failure }: SignInState) {
  const [begun, setBegun] = useState<LoginFailure | undefined>(undefined)
  const shown = begun ?? failure
  if (places.length === 0) return null
  const start = async (place: LoginPlace, authorize: string): Promise<void> => {
    try {
      const tab = { storage: sessionStorage, origin: location.origin }
      location.assign(await beginLogin(place, authorize, tab))
    } catch (error) {
      setBegun(error instanceof LoginFailure ? error : new LoginFailure(String(error), true))
    }
  }
  // Browsers have no cryptography for pages that came without TLS.
  if (!isSecureContext) return <p class="hint">To sign in, open this page by its https: URL.</p>
  return (
    <div class="sign-in">
      {shown !== undefined && (
        <div class="notice" role="alert">
          {visible(shown.message)}
        </div>
      )}
      {shown?.isOfPage === true && (
        <>
          <p class="hint">Or sign in from a terminal, and use the names there:</p>
          <Command text={`kubedoh login --gateway ${location.origin}`} />
        </>
      )}
      <ul class="places">
        {places.map((place) => {
          const { authorize } = place.endpoints ?? {}
          const label = visible(labelOf(place.issuer, places))
          return (
            <li key={place.issuer}>
              {authorize === undefined ? (
                <p class="hint">
                  {label} does not respond to the gateway. Reload this page later to sign in there.
                </p>
              ) : (
                <button type="button" onClick={() => void start(place, authorize)}>
                  Sign in with {label}
                </button>
              )}
            </li>
          )
        })}
      </ul>
    </div>
  )
}
