/**
 * The page as a whole: who the visitor is, what the gateway serves, and the parts that show it.
 * @module
 */

import { useLayoutEffect, useState } from 'hono/jsx/dom'
import type { PageQuestion } from './answer.ts'
import { Browser } from './browser.tsx'
import { Clusters } from './clusters.tsx'
import { type Failure, GatewayFailure, readZones } from './gateway.ts'
import type { Zone } from './names.ts'
import { QueryBox } from './query-box.tsx'
import { keepToken } from './session.ts'
import { Setup } from './setup.tsx'
import { TokenEntry } from './token-entry.tsx'

const REFRESH_MS = 10_000
const RETRY_MS = 3000

/** What the gateway last said about the visitor. */
type Known = {
  readonly zones: readonly Zone[] | undefined
  readonly readMs: number
  readonly failure: Failure | undefined
}

const UNKNOWN: Known = { zones: undefined, readMs: 0, failure: undefined }

/** The page. */
export function App(props: { readonly token: string; readonly isPublic: boolean }) {
  const { isPublic } = props
  const [token, setToken] = useState(props.token)
  const [question, setQuestion] = useState<PageQuestion>({ name: '', type: 'A', serial: 0 })
  const known = useZones(token)
  const { failure, zones, readMs } = known
  const isDenied = failure?.kind === 'denied'
  const enter = (next: string): void => {
    keepToken(sessionStorage, next)
    setToken(next)
  }
  const ask = (name: string, type: string): void => {
    setQuestion({ name, type, serial: question.serial + 1 })
  }
  const entry = isDenied && (
    <TokenEntry hadToken={token !== ''} isPublic={isPublic} onToken={enter} />
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
        <Status known={known} isPublic={isPublic} token={token} />
        {token !== '' && (
          <button type="button" class="quiet" onClick={() => enter('')}>
            Forget token
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
          <Setup token={token} zones={zones ?? []} isPublic={isPublic} />
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
  token,
}: {
  readonly known: Known
  readonly isPublic: boolean
  readonly token: string
}) {
  const [tone, text] = ((): readonly [string, string] => {
    if (failure?.kind === 'away') return ['bad', 'Gateway away']
    if (failure?.kind === 'denied' && isPublic && token === '') return ['good', 'Open to everybody']
    if (failure?.kind === 'denied') return ['warn', token === '' ? 'No token' : 'Token not valid']
    if (zones === undefined) return ['idle', 'Connecting']
    return ['good', token === '' ? 'Signed in' : 'Token valid']
  })()
  return (
    <p class={`status ${tone}`} role="status">
      {text}
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
