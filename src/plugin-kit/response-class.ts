/**
 * What kind of response a message is, as `cache` and `log` sort them
 * (github.com/coredns/coredns, plugin/pkg/response).
 * @module
 */
import { RCODE } from '../dns/rcode.ts'

/** Kinds of responses. */
export type ResponseKind =
  | 'answer'
  | 'nodata'
  | 'nxdomain'
  | 'delegation'
  | 'server-error'
  | 'other-error'

/** Sets of kinds, as `log` names them. */
export type ResponseClass = 'success' | 'denial' | 'error'

/** Facts of a response that its kind follows from. */
export type ResponseFacts = {
  readonly rcode: number
  readonly answerCount: number
  /** Whether the authority section has an SOA record. */
  readonly hasSoa: boolean
  /** Whether the authority section has an NS record. */
  readonly hasNs: boolean
}

/** Sorts a response by kind. */
export function responseKind({ rcode, answerCount, hasSoa, hasNs }: ResponseFacts): ResponseKind {
  switch (rcode) {
    case RCODE.NOERROR:
      if (answerCount > 0) return 'answer'
      if (hasSoa) return 'nodata'
      return hasNs ? 'delegation' : 'answer'
    case RCODE.NXDOMAIN:
      return answerCount > 0 ? 'other-error' : 'nxdomain'
    case RCODE.SERVFAIL:
    case RCODE.NOTIMP:
      return 'server-error'
    default:
      return 'other-error'
  }
}

/** Sorts a kind into its class. */
export function responseClass(kind: ResponseKind): ResponseClass {
  switch (kind) {
    case 'answer':
    case 'delegation':
      return 'success'
    case 'nodata':
    case 'nxdomain':
      return 'denial'
    case 'server-error':
    case 'other-error':
      return 'error'
  }
}
