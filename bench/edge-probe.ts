/**
 * How soon a gateway answers with changes that come at an even rate.
 * @module
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { compareBytes } from '../src/dns/bytes/bytes.ts'
import { parseAddress } from '../src/dns/names/address.ts'
import { nameOf } from '../src/dns/names/name.ts'
import { TYPE } from '../src/dns/names/rr-type.ts'
import { writeQuery } from '../src/dns/wire/write-query.ts'
import { askDoh } from '../src/gateway/doh/doh-client.ts'
import { percentiles } from './dns-load.ts'
import { type Row, row } from './row.ts'
import type { NamedAddress } from './server-cluster.ts'

const CHANGES_PER_SECOND = 200
/** One of so many changes is asked for. */
const PROBED = 10
/** A client asks again after this time: asking each 5 ms kept both cores busy with queries. */
const POLL_MS = 20
const WAIT_MS = 60_000
const ADDRESS_BYTES = 4

/** A gateway, and a token for its clients. */
export type Edge = { readonly url: string; readonly token: string }

/**
 * Makes changes, 200 a second, and measures from the API server's acknowledgement of a change to
 * the gateway's first response that has it.
 */
export async function changeRows(
  edge: Edge,
  change: () => Promise<NamedAddress>,
  { what, count }: { readonly what: string; readonly count: number },
): Promise<Row[]> {
  const waits: Promise<number>[] = []
  const startMs = performance.now()
  for (let i = 0; i < count; i++) {
    const changed = change()
    changed.catch(() => undefined)
    if (i % PROBED === 0) waits.push(changed.then((one) => msUntilEdge(edge, one)))
    const dueMs = startMs + (1000 * i) / CHANGES_PER_SECOND
    await sleep(Math.max(0, dueMs - performance.now()))
  }
  const rate = (1000 * count) / (performance.now() - startMs)
  const { p50, p99 } = percentiles(await Promise.all(waits))
  const metric = `${what} → answered at the gateway, at ${rate.toFixed(0)} changes/s`
  return [
    row('exporter', `${metric}, p50`, 'ms', p50, { atMost: 150 }),
    row('exporter', `${metric}, p99`, 'ms', p99, { atMost: 1000 }),
  ]
}

/**
 * Resolves with the milliseconds until a gateway returns an address for a name, or a higher one:
 * the addresses of a name rise with its changes, and the next one may replace this before it is
 * seen.
 */
export async function msUntilEdge(
  { url, token }: Edge,
  { name, address }: NamedAddress,
): Promise<number> {
  const message = writeQuery({ name: nameOf(name), type: TYPE.A })
  const wanted = parseAddress(address) ?? new Uint8Array(ADDRESS_BYTES)
  const startMs = performance.now()
  for (;;) {
    const response = await askDoh(`${url}/dns-query`, message, {
      fetch: (to, init) => fetch(to, init),
      signal: AbortSignal.timeout(WAIT_MS),
      token,
    })
    // The response has one record, which ends with the address.
    const isAnswered = response.length > message.length && (response[7] ?? 0) > 0
    if (isAnswered && compareBytes(response.slice(-ADDRESS_BYTES), wanted) >= 0) break
    if (performance.now() - startMs > WAIT_MS) throw new Error(`no ${address} for ${name}`)
    await sleep(POLL_MS)
  }
  return performance.now() - startMs
}
