/**
 * The page as a whole: who the visitor is, what the gateway serves, and the parts that show it.
 * @module
 */

import { useLayoutEffect, useState } from 'hono/jsx/dom'
import type { PageQuestion } from './answer.ts'
import { Browser } from './browser.tsx'
import { Clusters } from './clusters.tsx'
import { type Failure, GatewayFailure, readZones } from './gateway.ts'
import { type Login, LoginFailure, type LoginPlace, type Person } from './login.ts'
import type { Zone } from './names.ts'
import { QueryBox } from './query-box.tsx'
import { keepToken } from './session.ts'
import { Setup } from './setup.tsx'
import { TokenEntry } from './token-entry.tsx'
import { formatUntil, visible } from './visible.ts'

const REFRESH_MS = 10_000
const RETRY_MS = 3000

/** What the gateway last said about the visitor. */
type Known = {
  readonly zones: readonly Zone[] | undefined
  readonly readMs: number
  readonly failure: Failure | undefined
}

const UNKNOWN: Known = { zones: undefined, readMs: 0, failure: undefined }

/** Who looks at the page. */
type Visitor = {
  /** '' without one. */
  readonly token: string
  /** Whose login gave the token, if one did. */
  readonly person?: Person | undefined
}

const NOBODY: Visitor = { token: '' }

/**
 * The page.
 * @param login ends the login that an issuer has just sent the visitor back from
 */
export function App(props: {
  readonly visitor: Visitor
  readonly isPublic: boolean
  readonly places: readonly LoginPlace[]
  readonly login?: Promise<Login>
}) {
  const { isPublic, places } = props
  const [visitor, setVisitor] = useState(props.visitor)
  const [question, setQuestion] = useState<PageQuestion>({ name: '', type: 'A', serial: 0 })
  const enter = (next: Visitor): void => {
    keepToken(sessionStorage, next.token, next.person)
    setVisitor(next)
  }
  const { token, person } = visitor
  const known = useZones(token)
  const { failure, zones, readMs } = known
  const isDenied = failure?.kind === 'denied'
  const login = useLogin(props.login, enter)
  const signIn = { places, failure: login.failure }
  const ask = (name: string, type: string): void => {
    setQuestion({ name, type, serial: question.serial + 1 })
  }
  const entry = isDenied && !login.isPending && (
    <TokenEntry
      had={token === '' ? undefined : visitor}
      isPublic={isPublic}
      signIn={signIn}
      onToken={(next) => enter({ token: next })}
    />
  )
  const mayQuery = isPublic || !isDenied
  return (
    <>
      <header class="top">
        <h1>
          <Mark />
          kubedoh
        </h1>
        <p class="host">{location.host}</p>
        <Status
          {...visitor}
          known={known}
          isPublic={isPublic}
          isPending={login.isPending}
          hasLogins={places.length > 0}
        />
        {token !== '' && (
          <button type="button" class="quiet" onClick={() => enter(NOBODY)}>
            {person === undefined ? 'Forget token' : 'Sign out'}
          </button>
        )}
      </header>
      <main>
        <Notice failure={failure} hasZones={zones !== undefined} />
        {!isPublic && entry}
        {mayQuery && <QueryBox token={token} question={question} zones={zones ?? []} onAsk={ask} />}
        {isPublic && entry}
        {zones !== undefined && !isDenied && (
          <div class="columns">
            <Browser token={token} zones={zones} onAsk={ask} />
            <Clusters zones={zones} readMs={readMs} isOld={failure !== undefined} />
          </div>
        )}
        {mayQuery && (isPublic || token !== '' || zones !== undefined) && (
          <Setup {...visitor} zones={zones ?? []} isPublic={isPublic} signIn={signIn} />
        )}
      </main>
      <footer>
        <p>
          Names of Kubernetes clusters by DNS over HTTPS. The page loads nothing from elsewhere, and
          keeps your token in this tab only.
        </p>
      </footer>
    </>
  )
}

/** Waits for the end of a login. */
function useLogin(
  login: Promise<Login> | undefined,
  onLogin: (login: Login) => void,
): { readonly isPending: boolean; readonly failure: LoginFailure | undefined } {
  const [state, setState] = useState<{ isPending: boolean; failure: LoginFailure | undefined }>({
    isPending: login !== undefined,
    failure: undefined,
  })
  useLayoutEffect(() => {
    const end = (failure?: LoginFailure): void => setState({ isPending: false, failure })
    void login?.then(
      (done) => {
        onLogin(done)
        end()
      },
      (error: unknown) => {
        if (error instanceof LoginFailure) end(error)
        else if (error instanceof GatewayFailure) end(new LoginFailure(error.failure.message))
        else end(new LoginFailure(String(error)))
      },
    )
  }, [])
  return state
}

/** Reads the zones at once, and again for as long as the page is open. */
function useZones(token: string): Known {
  const [known, setKnown] = useState<Known>(UNKNOWN)
  useLayoutEffect(() => {
    const ended = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let last = UNKNOWN
    const read = async (): Promise<void> => {
      try {
        const zones = await readZones({ token, signal: ended.signal })
        last = { zones, readMs: performance.now(), failure: undefined }
      } catch (error) {
        if (ended.signal.aborted) return
        const failure: Failure =
          error instanceof GatewayFailure ? error.failure : { kind: 'away', message: String(error) }
        last = failure.kind === 'denied' ? { ...UNKNOWN, failure } : { ...last, failure }
      }
      if (ended.signal.aborted) return
      setKnown(last)
      timer = setTimeout(() => void read(), last.failure?.kind === 'away' ? RETRY_MS : REFRESH_MS)
    }
    setKnown(UNKNOWN)
    void read()
    return () => {
      ended.abort()
      clearTimeout(timer)
    }
  }, [token])
  return known
}

function Status({
  known: { failure, zones },
  isPublic,
  isPending,
  hasLogins,
  token,
  person,
}: Visitor & {
  readonly known: Known
  readonly isPublic: boolean
  readonly isPending: boolean
  readonly hasLogins: boolean
}) {
  const [tone, text] = ((): readonly [string, string] => {
    if (isPending) return ['idle', 'Signing in']
    if (failure?.kind === 'away') return ['bad', 'Gateway away']
    if (failure?.kind === 'denied' && isPublic && token === '') return ['good', 'Open to everybody']
    if (failure?.kind === 'denied' && (person !== undefined || (hasLogins && token === ''))) {
      return ['warn', 'Not signed in']
    }
    if (failure?.kind === 'denied') return ['warn', token === '' ? 'No token' : 'Token not valid']
    if (zones === undefined) return ['idle', 'Connecting']
    if (person !== undefined) return ['good', visible(person.name)]
    return ['good', token === '' ? 'Signed in' : 'Token valid']
  })()
  return (
    <p class={`status ${tone}`} role="status">
      <span>
        {text}
        {person !== undefined && tone === 'good' && (
          <span class="until">, until {formatUntil(person.untilMs, Date.now())}</span>
        )}
      </span>
    </p>
  )
}

function Notice({
  failure,
  hasZones,
}: {
  readonly failure: Failure | undefined
  readonly hasZones: boolean
}) {
  if (failure === undefined || failure.kind === 'denied') return null
  const rest = hasZones ? ' What is shown below is the last that it said.' : ''
  return (
    <p class="notice" role="alert">
      {failure.message} The page tries again every few seconds.{rest}
    </p>
  )
}

function Mark() {
  return (
    <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
      <path
        d="M12 1.5 21.5 7v10L12 22.5 2.5 17V7z"
        fill="none"
        stroke="currentColor"
        stroke-width="2"
        stroke-linejoin="round"
      />
      <circle cx="12" cy="12" r="3.2" fill="currentColor" />
    </svg>
  )
}
