/**
 * The name of a Worker, and what follows from it: Cloudflare keeps both apart by account, so two
 * folders must not share them.
 * @module
 */
import { sha256Hex } from '../../snapshot/format/signature.ts'

/** Ends the name of the Worker of `[env.staging]`. */
export const STAGING_SUFFIX = '-staging'
/** A label of a host below workers.dev (RFC 1035 §2.3.4), with room for the suffix. */
export const WORKER_NAME_MAX: number = 63 - STAGING_SUFFIX.length

const NAME = /^[a-z0-9]+(-+[a-z0-9]+)*$/
const COMBINING = /\p{Mark}/gu
/** Hexadecimal digits that stand for the end of a long name. */
const DIGEST_DIGITS = 8
/** Ids of rate limits are positive; 31 bits fit in every reader of theirs. */
const NAMESPACE_MAX = 2 ** 31 - 1

/** Returns whether Cloudflare takes a text as the name of a Worker, and of its staging. */
export function isWorkerName(text: string): boolean {
  return text.length <= WORKER_NAME_MAX && NAME.test(text)
}

/**
 * Returns the name of a folder in kebab case; '' if it has no letter a-z and no digit. Of a long
 * name, a digest stands for the end, so that names with the same start differ.
 */
export async function deriveWorkerName(folder: string): Promise<string> {
  const words = folder.normalize('NFKD').replace(COMBINING, '')
  const name = words
    .replace(/([a-z0-9])([A-Z])/g, '$1-$2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  if (name.length <= WORKER_NAME_MAX) return name
  const start = name.slice(0, WORKER_NAME_MAX - DIGEST_DIGITS - 1).replace(/-$/, '')
  return `${start}-${(await digestOf(folder)).slice(0, DIGEST_DIGITS)}`
}

/**
 * Returns the `namespace_id` of a Worker's rate limit, a positive number: Workers of an account
 * with the same one share their counters.
 */
export async function rateLimitNamespace(name: string): Promise<string> {
  const digest = Number.parseInt((await digestOf(name)).slice(0, 8), 16)
  return String(1 + (digest % NAMESPACE_MAX))
}

function digestOf(text: string): Promise<string> {
  return sha256Hex(new TextEncoder().encode(text))
}
