/**
 * Explains a response: which server block took the query, which plugins it reached, and their
 * facts.
 * @module
 */
import { formatName } from '../dns/name.ts'
import { isWithinZone } from '../dns/query.ts'
import type { Incoming } from './incoming.ts'
import { findChain, type Listener } from './listener.ts'
import { andThen, type MaybePromise } from './maybe-promise.ts'
import type { Fact } from './plugin.ts'
import type { Spans } from './request.ts'
import type { Resolver } from './resolver.ts'

/** A response and its explanation. */
export type Explanation = {
  /** `undefined` for none. */
  readonly reply: Uint8Array | undefined
  /** The zone of the server block; `undefined` for none. */
  readonly serverBlock: string | undefined
  /** Plugins that the query and its look-ups reached, in order. */
  readonly plugins: readonly string[]
  readonly facts: readonly Fact[]
}

/** Answers a message on the slow path and explains the response. Never throws or rejects. */
export function explain(
  resolver: Resolver,
  listener: Listener,
  incoming: Incoming,
): MaybePromise<Explanation> {
  const { parsed: query, client } = incoming
  const plugins: string[] = []
  const spans: Spans = {
    traceId: '',
    begin: (plugin) => {
      plugins.push(plugin)
      return () => undefined
    },
  }
  return andThen(resolver.answerTraced(listener, incoming, spans), async (reply) => {
    if (query.kind === 'refusal') return { reply, serverBlock: undefined, plugins, facts: [] }
    const chain = findChain(listener, query, client)
    const served = listener.zones.find(
      (one) => one.chain === chain && isWithinZone(query, one.zone),
    )
    const reached = (chain?.plugins ?? []).filter(({ name }) => plugins.includes(name))
    const facts = await Promise.all(reached.map((plugin) => plugin.explain?.(query, client) ?? []))
    return { reply, serverBlock: served && formatName(served.zone), plugins, facts: facts.flat() }
  })
}
