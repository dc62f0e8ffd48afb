/**
 * The `tsig` plugin: verifies signatures of messages, signs the replies, and refuses what should be
 * signed and is not (RFC 8945).
 *
 * Plugins behind it learn nothing of signatures, and pass none on to upstreams.
 * @module
 */

import { readUint16 } from '../../bytes/bytes.ts'
import { failure, type Secured, type Setup } from '../../chain/plugin.ts'
import { configError } from '../../corefile/problem.ts'
import type { Query } from '../../dns/query.ts'
import { RCODE } from '../../dns/rcode.ts'
import { findTsig } from '../../dns/tsig.ts'
import { closestZoneIndex } from '../../plugin-kit/zones.ts'
import { parseTsig, type Required } from './options.ts'
import { type Verifier, verify } from './verify.ts'

/** What is no concern of the plugin's. */
const NOT_SECURED: Secured = { rcode: undefined, seal: undefined }

/** Configures `tsig [ZONE…] { secret NAME KEY  secrets FILE  require …  require_opcode … }`. */
export const setupTsig: Setup = (directives, { host, zones: blockZones, secrets: shared }) => {
  const { notices, ...options } = parseTsig(directives, blockZones, host.readText)
  const { zones, secrets } = options
  const { hmac } = host
  if (hmac === undefined) throw configError(directives[0], 'this runtime verifies no signatures')
  for (const ring of shared) for (const [key, secret] of secrets) ring.set(key, secret)
  const verifier: Verifier = {
    secretOf: (key) => secrets.get(key) ?? shared.find((ring) => ring.has(key))?.get(key),
    hmac,
    nowSeconds: () => Math.floor(host.now() / 1000),
  }
  const isRequired = (query: Query): boolean =>
    isIn(options.types, query.type) || isIn(options.operations, (query.flags >>> 11) & 15)
  const secured = (query: Query): Secured => {
    if (closestZoneIndex(zones, query) < 0) return NOT_SECURED
    const found = findTsig(query)
    if (found === 'malformed') return { rcode: RCODE.FORMERR, seal: undefined }
    if (found === undefined) {
      return isRequired(query) ? { rcode: RCODE.REFUSED, seal: undefined } : NOT_SECURED
    }
    const { error, seal } = verify(query, found, verifier)
    return { rcode: error === RCODE.NOERROR ? undefined : RCODE.NOTAUTH, seal }
  }
  return {
    notices,
    plugins: [
      {
        name: 'tsig',
        quick: {
          concerns: (query) =>
            (mayBeSigned(query) || isRequired(query)) && closestZoneIndex(zones, query) >= 0,
        },
        secures: (query) => secured(query),
        serve: (request, next) => {
          const { rcode, seal } = secured(request.query)
          if (seal !== undefined) request.limits.seal = seal
          return rcode === undefined ? next(request) : failure(rcode)
        },
      },
    ],
  }
}

/** Whether a query has an additional record beside the OPT record. Allocates nothing. */
function mayBeSigned({ bytes, hasEdns }: Query): boolean {
  return readUint16(bytes, 10) > (hasEdns ? 1 : 0)
}

function isIn(required: Required, value: number): boolean {
  return required === 'all' || required.has(value)
}
