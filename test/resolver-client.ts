/**
 * Asks a resolver as transports do, without one.
 * @module
 */

import { ReplyWriter } from '../src/dns/wire/reply-writer.ts'
import { Incoming, ownResponse } from '../src/resolver/chain/incoming.ts'
import type { Listener } from '../src/resolver/chain/listener.ts'
import type { Resolver } from '../src/resolver/chain/resolver.ts'
import type { Client } from '../src/resolver/contract/client.ts'
import type { MaybePromise } from '../src/resolver/contract/maybe-promise.ts'

/** The response of the fast path, `undefined` when it has none, and that of the slow path. */
export type BothWays = {
  readonly fast: Uint8Array | undefined
  readonly slow: Uint8Array | undefined
}

const writer = new ReplyWriter()

/** A client of a resolver. */
export class ResolverClient {
  private readonly resolver: Resolver
  private readonly client: Client
  private readonly listener: Listener
  private readonly incoming = new Incoming()

  /** @throws {TypeError} when the resolver listens nowhere */
  constructor(
    resolver: Resolver,
    client: Client,
    listener: Listener | undefined = resolver.listeners[0],
  ) {
    if (listener === undefined) throw new TypeError('Nothing listens')
    this.resolver = resolver
    this.client = client
    this.listener = listener
  }

  /** Asks, and copies the response. */
  answer(message: Uint8Array): MaybePromise<Uint8Array | undefined> {
    const { resolver, listener, incoming, client } = this
    return ownResponse(resolver.answer(listener, incoming.read(message, client), writer), writer)
  }

  /** Asks by the slow path. */
  slow(message: Uint8Array): MaybePromise<Uint8Array | undefined> {
    const { resolver, listener, incoming, client } = this
    return resolver.answerOnSlowPath(listener, incoming.read(message, client))
  }

  /** Asks, and once more by the slow path when the fast path has answered. */
  async bothWays(message: Uint8Array): Promise<BothWays> {
    const { resolver, listener, incoming, client } = this
    const result = resolver.answer(listener, incoming.read(message, client), writer)
    if (typeof result !== 'number') return { fast: undefined, slow: await result }
    const fast = writer.bytes.slice(0, result)
    return { fast, slow: await this.slow(message) }
  }
}
