/**
 * Queries by a service binding, as the caller's program has them.
 * @module
 */
import { HttpError } from './http-error.ts'
import { parseJsonQuery } from './json-query.ts'
import type { JsonReply } from './json-reply.ts'

/** The gateway as another Worker has it bound. */
export type NameResolver = {
  /**
   * Resolves a name as the JSON API does (docs/http-api.md); NXDOMAIN is `Status` 3, no error.
   * @param type its name or number (default: A)
   * @throws {TypeError} for a name or type that is none
   * @throws {Error} while the gateway has no SERVICE_SCOPE, and over its rate limit
   */
  readonly resolve: (name: string, type?: string | number) => Promise<JsonReply>
}

/** A query as a caller sent it: nothing has checked the types of its values. */
export type NameQuery = { readonly name: unknown; readonly type: unknown }

/** 254 bytes of a name, each as `\DDD`. */
const NAME_MAX = 1016
const TYPE_MAX = 16

/** Writes the message of a query. @throws {TypeError} for a name or type that is none */
export function readNameQuery({ name, type = 'A' }: NameQuery): Uint8Array {
  if (typeof name !== 'string' || name.length > NAME_MAX) {
    throw new TypeError(`"name" is not a string of at most ${NAME_MAX} characters`)
  }
  const typeText = typeof type === 'number' ? String(type) : type
  if (typeof typeText !== 'string' || typeText.length > TYPE_MAX) {
    throw new TypeError('"type" is neither a number nor the name of a type')
  }
  try {
    return parseJsonQuery(new URLSearchParams({ name, type: typeText })).message
  } catch (error) {
    if (!(error instanceof HttpError)) throw error
    throw new TypeError(error.message, { cause: error })
  }
}
