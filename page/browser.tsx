/**
 * Browses what the token sees: zones, namespaces, Services and the names below them, in pages.
 * @module
 */
import { useLayoutEffect, useRef, useState } from 'hono/jsx/dom'
import { GatewayFailure, readNames } from './gateway.ts'
import {
  crumbsOf,
  depthOf,
  hasServices,
  type Name,
  opens,
  shortName,
  startOf,
  typeFor,
  type Zone,
} from './names.ts'
import { count, plainName, visible } from './visible.ts'

const PAUSE_MS = 200
const PAGE = '100'

type Props = {
  readonly token: string
  readonly zones: readonly Zone[]
  readonly onAsk: (name: string, type: string) => void
}

type Place = { readonly under: string; readonly search: string }

type Listing = {
  readonly names: readonly Name[]
  readonly next: string | null
  readonly isWhole: boolean
  readonly isBusy: boolean
  readonly problem: string
}

const NOTHING: Listing = { names: [], next: null, isWhole: true, isBusy: true, problem: '' }

/** The browser of names. */
export function Browser({ token, zones, onAsk }: Props) {
  const [first] = zones
  const [place, setPlace] = useState<Place>({ under: '', search: '' })
  const under = place.under === '' && first !== undefined ? startOf(first) : place.under
  const zone = zones.find((one) => `.${under}`.endsWith(`.${one.zone}`))
  const { listing, more } = useListing(token, { under, search: place.search })
  if (first === undefined || zone === undefined) return null
  const go = (to: string): void => setPlace({ under: to, search: '' })
  const pick = (name: Name): void => {
    const type = typeFor(name)
    if (type !== undefined) onAsk(plainName(name.name), type)
    if (opens(name, zone) && name.name !== under) go(name.name)
  }
  return (
    <section class="card browse" aria-labelledby="browse-title">
      <div class="head">
        <h2 id="browse-title">Browse</h2>
        {zones.length > 1 && (
          <>
            <label class="sr" for="zone">
              Zone
            </label>
            <select
              id="zone"
              onChange={(event: Event) => {
                const { target } = event
                const chosen = target instanceof HTMLSelectElement ? target.value : ''
                const next = zones.find((one) => one.zone === chosen)
                if (next !== undefined) go(startOf(next))
              }}
            >
              {zones.map((one) => (
                <option key={one.zone} value={one.zone} selected={one.zone === zone.zone}>
                  {visible(plainName(one.zone))}
                </option>
              ))}
            </select>
          </>
        )}
      </div>
      <Crumbs under={under} zone={zone.zone} onGo={go} />
      <label class="sr" for="search">
        Search below {plainName(under)}
      </label>
      <input
        id="search"
        type="search"
        placeholder="Search"
        value={place.search}
        maxlength={253}
        spellcheck={false}
        autocomplete="off"
        onInput={(event: Event) => {
          const { target } = event
          if (target instanceof HTMLInputElement) setPlace({ under, search: target.value })
        }}
      />
      <List listing={listing} under={under} zone={zone} onPick={pick} search={place.search} />
      {(listing.next !== null || listing.problem !== '') && (
        <button type="button" class="quiet" disabled={listing.isBusy} onClick={more}>
          {listing.problem === '' ? 'Show more' : 'Try again'}
        </button>
      )}
    </section>
  )
}

/** Reads the first page of a place after a pause in typing, and further pages on request. */
function useListing(token: string, { under, search }: Place) {
  const [listing, setListing] = useState<Listing>(NOTHING)
  const read = async (before: Listing, signal?: AbortSignal): Promise<void> => {
    const after = before.next === null ? {} : { after: before.next }
    const session = { token, ...(signal && { signal }) }
    try {
      const page = await readNames({ under, search, limit: PAGE, ...after }, session)
      if (signal?.aborted) return
      setListing({
        ...page,
        names: [...before.names, ...page.names],
        isWhole: before.isWhole && page.isWhole,
        isBusy: false,
        problem: '',
      })
    } catch (error) {
      if (signal?.aborted) return
      const problem = error instanceof GatewayFailure ? error.failure.message : String(error)
      setListing({ ...before, isBusy: false, problem })
    }
  }
  const shown = useRef<AbortSignal>(null)
  useLayoutEffect(() => {
    if (under === '') return undefined
    const ended = new AbortController()
    shown.current = ended.signal
    setListing((before) => ({ ...before, isBusy: true }))
    const timer = setTimeout(() => void read(NOTHING, ended.signal), search === '' ? 0 : PAUSE_MS)
    return () => {
      ended.abort()
      clearTimeout(timer)
    }
  }, [token, under, search])
  const more = (): void => {
    setListing({ ...listing, isBusy: true })
    void read(listing, shown.current ?? undefined)
  }
  return { listing, more }
}

function Crumbs({
  under,
  zone,
  onGo,
}: {
  readonly under: string
  readonly zone: string
  readonly onGo: (under: string) => void
}) {
  const steps = crumbsOf(under, zone)
  return (
    <nav aria-label="Way to these names">
      <ol class="crumbs">
        {steps.map((step, i) => (
          <li key={step.under}>
            {i === steps.length - 1 ? (
              <span aria-current="true">{visible(step.text)}</span>
            ) : (
              <button type="button" class="link" onClick={() => onGo(step.under)}>
                {visible(step.text)}
              </button>
            )}
          </li>
        ))}
      </ol>
    </nav>
  )
}

function List({
  listing: { names, next, isBusy, isWhole, problem },
  under,
  zone,
  onPick,
  search,
}: {
  readonly listing: Listing
  readonly under: string
  readonly zone: Zone
  readonly onPick: (name: Name) => void
  readonly search: string
}) {
  if (problem !== '') {
    return (
      <p class="problem" role="status">
        {visible(problem)}
      </p>
    )
  }
  const isSpaces = hasServices(zone) && depthOf(under, zone.zone) === 1 && search === ''
  const hasMore = next !== null
  if (names.length === 0) {
    const nothing = search === '' ? 'There are no names here.' : 'No name contains this text.'
    return (
      <p class="hint" role="status">
        {isBusy ? 'Loading …' : nothing}
      </p>
    )
  }
  return (
    <>
      <p class="hint" role="status">
        {count(names.length, isSpaces ? 'namespace' : 'name')}
        {hasMore ? ' so far' : ''}
        {isWhole ? '' : '; some could not be read'}
      </p>
      <ul class={isBusy ? 'names busy' : 'names'}>
        {names.map((name) => (
          <li key={name.name}>
            <button type="button" onClick={() => onPick(name)}>
              <bdi class="mono">{visible(shortName(name.name, under))}</bdi>
              <span class="types">
                {name.types.map((type) => (
                  <span key={type} class="chip">
                    {type}
                  </span>
                ))}
              </span>
            </button>
          </li>
        ))}
      </ul>
    </>
  )
}
