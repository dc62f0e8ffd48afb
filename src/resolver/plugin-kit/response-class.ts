/**
 * The kind of a response, as `cache` and `log` classify it
 * (github.com/coredns/coredns, plugin/pkg/response).
 * @module
 */
import { RCODE } from '../../dns/names/rcode.ts'

/** Kinds of responses. */
export type ResponseKind =
  | 'answer'
  | 'nodata'
  | 'nxdomain'
  | 'delegation'
  | 'server-error'
  | 'other-error'

/** Classes of kinds, in the words of CoreDNS's `log`. */
export type ResponseClass = 'success' | 'denial' | 'error'

/** The facts that determine the kind of a response. */
export type ResponseFacts = {
  readonly rcode: number
  readonly answerCount: number
  readonly hasSoa: boolean
  readonly hasNs: boolean
}

/** Returns the kind of a response. */
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

/** Returns the class of a kind. */
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
