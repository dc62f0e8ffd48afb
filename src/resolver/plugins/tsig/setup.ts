/**
 * The `tsig` plugin: verifies signed messages, signs their replies, and refuses unsigned messages
 * that need a signature (RFC 8945).
 *
 * Later plugins do not see signatures and send none to upstreams.
 * @module
 */
import { readUint16 } from '../../../dns/bytes/bytes.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import type { Query } from '../../../dns/wire/query.ts'
import { findTsig } from '../../../dns/wire/tsig.ts'
import { failure } from '../../contract/outcome.ts'
import type { SignatureVerdict } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import { closestZoneIndex } from '../../plugin-kit/zones.ts'
import { parseTsig, type Required } from './options.ts'
import { type TsigHost, type Verifier, verify } from './verify.ts'

/** The verdict on messages that may be unsigned. */
const NOT_SECURED: SignatureVerdict = { rcode: undefined, signer: undefined }

/** Configures `tsig [ZONE…] { secret NAME KEY  secrets FILE  require …  require_opcode … }`. */
export const tsigPlugin: PluginEntry<TsigHost> = {
  name: 'tsig',
  gateways: {
    at: 'worker',
    is: 'refused',
    because: 'it does not verify signatures; give clients tokens, and remove this',
  },
  setup: (directives, { host, zones: blockZones, secrets: shared }) => {
    const { notices, ...options } = parseTsig(directives, blockZones, host.readText)
    const { zones, secrets } = options
    const { hmac } = host
    for (const ring of shared) for (const [key, secret] of secrets) ring.set(key, secret)
    const verifier: Verifier = {
      secretOf: (key) => secrets.get(key) ?? shared.find((ring) => ring.has(key))?.get(key),
      hmac,
      nowSeconds: () => Math.floor(host.now() / 1000),
    }
    const isRequired = (query: Query): boolean =>
      isIn(options.types, query.type) || isIn(options.operations, (query.flags >>> 11) & 15)
    const secured = (query: Query): SignatureVerdict => {
      if (closestZoneIndex(zones, query) < 0) return NOT_SECURED
      const found = findTsig(query)
      if (found === 'malformed') return { rcode: RCODE.FORMERR, signer: undefined }
      if (found === undefined) {
        return isRequired(query) ? { rcode: RCODE.REFUSED, signer: undefined } : NOT_SECURED
      }
      const { error, signer } = verify(query, found, verifier)
      return { rcode: error === RCODE.NOERROR ? undefined : RCODE.NOTAUTH, signer }
    }
    return {
      notices,
      plugin: {
        name: 'tsig',
        fastPath: {
          needsSlowPath: (query) =>
            (mayBeSigned(query) || isRequired(query)) && closestZoneIndex(zones, query) >= 0,
        },
        verify: (query) => secured(query),
        serve: (request, next) => {
          const { rcode, signer } = secured(request.query)
          if (signer !== undefined) request.limits.signer = signer
          return rcode === undefined ? next(request) : failure(rcode)
        },
      },
    }
  },
}

/** Whether a query has an additional record besides OPT. Allocates nothing. */
function mayBeSigned({ bytes, hasEdns }: Query): boolean {
  return readUint16(bytes, 10) > (hasEdns ? 1 : 0)
}

function isIn(required: Required, value: number): boolean {
  return required === 'all' || required.has(value)
}
