/**
 * Zone-level names: `svc`, `pod`, the namespaces, and the version of the schema (DNS specification
 * 1.1.0 §2.2).
 * @module
 */
import { EMPTY } from '../../dns/bytes/bytes.ts'
import { TYPE } from '../../dns/names/rr-type.ts'
import { NS_DNS } from '../../snapshot/records/server-choice.ts'
import type { ZoneEntry } from '../../snapshot/records/zone-entry.ts'
import { joinLabels, labelOf, POD, SVC } from '../objects/labels.ts'

/** Version of the DNS specification. */
export const SCHEMA_VERSION = '1.1.0'
/** CoreDNS's TTL for it, the specification's example; the option `ttl` does not change it. */
const VERSION_TTL_SECONDS = 28800

/** Returns the names that every zone has. */
export function zoneNames(): ZoneEntry[] {
  const text = new TextEncoder().encode(` ${SCHEMA_VERSION}`)
  text[0] = SCHEMA_VERSION.length
  const version = labelOf('dns-version') ?? SVC
  return [
    { kind: 'name', owner: EMPTY, namespace: '' },
    { kind: 'name', owner: SVC, namespace: '' },
    { kind: 'name', owner: POD, namespace: '' },
    // The SOA record names `ns.dns`, which exists even if the server has no address for it.
    { kind: 'name', owner: NS_DNS, namespace: '' },
    {
      kind: 'records',
      owner: version,
      namespace: '',
      type: TYPE.TXT,
      ttlSeconds: VERSION_TTL_SECONDS,
      rdata: [{ bytes: text }],
    },
  ]
}

/** Returns the name of a served namespace. */
export function namespaceNames(namespace: string): ZoneEntry[] {
  const owner = joinLabels(labelOf(namespace), SVC)
  return owner === undefined ? [] : [{ kind: 'name', owner, namespace }]
}
