/**
 * Finds the addresses of a name of `k8s_gateway`: its own, and those of load balancers' hostnames,
 * which the whole server resolves.
 * @module
 */

import { andThen, type MaybePromise } from '../../chain/maybe-promise.ts'
import type { Outcome } from '../../chain/outcome.ts'
import type { Request } from '../../chain/request.ts'
import type { ResourceRecord } from '../../dns/message.ts'
import { ROOT } from '../../dns/name.ts'
import { RCODE } from '../../dns/rcode.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { type FoundName, recordsOf } from '../../snapshot/read/find-name.ts'

/** Addresses, and whether a lookup failed. */
export type Addresses = {
  readonly records: readonly ResourceRecord[]
  readonly isPartial: boolean
}

/** Returns the distinct addresses of a type as records at `owner`. */
export function addressesOf(
  request: Request,
  found: FoundName,
  { owner, type }: { readonly owner: Uint8Array; readonly type: number },
): MaybePromise<Addresses> {
  const as = { owner, origin: ROOT }
  const own: Addresses = { records: recordsOf(found, type, as), isPartial: false }
  let all: MaybePromise<Addresses> = own
  for (const { rdata: host, ttlSeconds } of recordsOf(found, TYPE.CNAME, as)) {
    all = andThen(all, (before) =>
      andThen(request.lookup(host, type), (outcome) => {
        const ofHost = hostAddresses(outcome, type).map((record) => {
          // The hostname's own TTL is the upper bound.
          return { ...record, owner, ttlSeconds: Math.min(ttlSeconds, record.ttlSeconds) }
        })
        const isPartial = before.isPartial || !hasAnswer(outcome)
        return { records: [...before.records, ...ofHost], isPartial }
      }),
    )
  }
  return andThen(all, ({ records, isPartial }) => ({ records: unique(records), isPartial }))
}

function hostAddresses(outcome: Outcome, type: number): readonly ResourceRecord[] {
  if (outcome.kind !== 'reply') return []
  return outcome.answer.filter((record) => record.type === type)
}

function hasAnswer(outcome: Outcome): boolean {
  if (outcome.kind !== 'reply') return false
  return outcome.rcode === RCODE.NOERROR || outcome.rcode === RCODE.NXDOMAIN
}

function unique(records: readonly ResourceRecord[]): readonly ResourceRecord[] {
  const known = new Map<string, ResourceRecord>()
  for (const record of records) {
    const key = record.rdata.join()
    if (!known.has(key)) known.set(key, record)
  }
  return [...known.values()]
}
