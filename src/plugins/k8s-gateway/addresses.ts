/**
 * The addresses of a name of `k8s_gateway`: its own, and those of the host names that load
 * balancers are called by, which the whole server is asked for.
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

/** Addresses, and whether some could not be had. */
export type Addresses = {
  readonly records: readonly ResourceRecord[]
  readonly isPartial: boolean
}

/** Finds the addresses of a type; all are told at `owner`, each once. */
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
          // No longer than who owns the host says.
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
