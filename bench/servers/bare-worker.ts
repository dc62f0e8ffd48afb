/**
 * A Worker as small as one can be: a `fetch` handler with a fixed response.
 * @module
 */
import { DurableObject } from 'cloudflare:workers'
import { respond } from './fixed-response.ts'

/** Bound because the gateway's configuration binds them; never used. */
export class ClusterObject extends DurableObject {}
/** Likewise. */
export class TokenObject extends DurableObject {}

export default { fetch: respond }
