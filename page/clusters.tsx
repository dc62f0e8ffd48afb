/**
 * How fresh the names of each cluster are.
 * @module
 */
import { useLayoutEffect, useState } from 'hono/jsx/dom'
import type { Cluster, Zone } from './names.ts'
import { formatAge, plainName, visible } from './visible.ts'

const TICK_MS = 1000
const TONES: Readonly<Record<string, string>> = { fresh: 'good', stale: 'warn', partial: 'warn' }

/** The clusters of all zones, with their ages as of now. */
export function Clusters({
  zones,
  readMs,
  isOld,
}: {
  readonly zones: readonly Zone[]
  readonly readMs: number
  readonly isOld: boolean
}) {
  const [nowMs, setNowMs] = useState(performance.now())
  useLayoutEffect(() => {
    const timer = setInterval(() => setNowMs(performance.now()), TICK_MS)
    return () => clearInterval(timer)
  }, [])
  const passed = Math.max(0, (nowMs - readMs) / 1000)
  return (
    <section class="card" aria-labelledby="clusters-title">
      <h2 id="clusters-title">Freshness</h2>
      {zones.length === 0 && <p class="hint">This token sees no zone of a cluster.</p>}
      {zones.map(({ zone, clusters }) => (
        <div key={zone} class="zone">
          <h3 class="mono">{visible(plainName(zone))}</h3>
          <ul>
            {clusters.map((one) => (
              <li key={`${one.cluster} ${one.tree}`}>
                <Line cluster={one} passed={passed} isOld={isOld} />
              </li>
            ))}
          </ul>
        </div>
      ))}
    </section>
  )
}

function Line({
  cluster: { cluster, tree, freshness, generation, ageSeconds },
  passed,
  isOld,
}: {
  readonly cluster: Cluster
  readonly passed: number
  readonly isOld: boolean
}) {
  const age = ageSeconds === null ? null : ageSeconds + passed
  return (
    <>
      <span class={`dot ${isOld ? 'idle' : (TONES[freshness] ?? 'bad')}`} aria-hidden="true" />
      <span class="strong">
        {visible(cluster)}
        {tree === 'cluster' ? '' : ` · ${visible(tree)}`}
      </span>
      <span class="fresh">{isOld ? 'last known' : visible(freshness)}</span>
      <span class="detail">
        {age === null
          ? 'published nothing yet'
          : `confirmed ${formatAge(age)} ago · generation ${generation}`}
      </span>
    </>
  )
}
