/**
 * The `autopath` plugin: walks a client's search list on its behalf, so that one query is enough
 * (CoreDNS, plugin/autopath). If a query name ends in the first element of the list, the response
 * is a CNAME and the answer of the first element that has one.
 *
 * A query for the first element itself goes to the next plugin, where CoreDNS fails.
 * @module
 */

import { checkNoBlock, onlyDirective, zonesOf } from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { byteAt } from '../../../dns/bytes/bytes.ts'
import { equalNames, joinName, ROOT } from '../../../dns/names/name.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { metricInfo, type Series } from '../../../dns/telemetry/metrics.ts'
import type { Reply } from '../../../dns/wire/message.ts'
import { isWithinZone, type Query } from '../../../dns/wire/query.ts'
import { deriveRequest } from '../../chain/derived-request.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { Next, Request } from '../../contract/request.ts'
import type { SetupContext } from '../../contract/setup.ts'
import { parseSearchList } from '../../plugin-kit/search-list.ts'
import { closestZoneIndex } from '../../plugin-kit/zones.ts'

/** Returns the search list of a client; `undefined` for none. */
type SearchPath = NonNullable<Plugin['searchPath']>

/** Plugins that provide search lists of clients. */
const PROVIDERS: ReadonlySet<string> = new Set(['kubernetes', 'erratic'])

const SUCCESSES = metricInfo(
  'coredns_autopath_success_total',
  'Counter of requests that did autopath.',
  'server',
)

/** Configures `autopath [ZONE…] FILE|@PLUGIN`; the file is a resolv.conf, read once. */
export const autopathPlugin: PluginEntry = {
  name: 'autopath',
  counts: 'last',
  gateways: {
    at: 'gateway',
    is: 'noted',
    because: 'it knows no Pods: with @kubernetes, no client has a search list',
  },
  mayAnswer: true,
  setup: (directives, context) => {
    const directive = onlyDirective(directives)
    checkNoBlock(directive)
    const { zones, searchPath } = parseAutopath(directive, context)
    const successes = context.host.metrics.counter(SUCCESSES, [context.server])
    const pathOf: SearchPath = (query, client) => {
      if (closestZoneIndex(zones, query) < 0) return undefined
      const path = searchPath(query, client)
      const first = path?.[0]
      return first !== undefined && isBelow(query, first) ? path : undefined
    }
    let isSearched = false
    return {
      plugin: {
        name: 'autopath',
        fastPath: {
          accepts: (query, client, reply) => {
            isSearched = pathOf(query, client) !== undefined
            return !isSearched || (byteAt(reply, 3) & 15) !== RCODE.NXDOMAIN
          },
          answered: () => {
            if (isSearched) successes.value++
          },
        },
        serve: (request, next) => {
          const path = pathOf(request.query, request.client)
          return path === undefined ? next(request) : search(request, next, { path, successes })
        },
      },
    }
  },
}

function parseAutopath(
  directive: Directive,
  context: SetupContext,
): { readonly zones: readonly Uint8Array[]; readonly searchPath: SearchPath } {
  const source = directive.args.at(-1)
  if (source === undefined) {
    throw configError(directive, '"autopath" needs a resolv.conf or a plugin such as @kubernetes')
  }
  const zones = zonesOf(directive.args.slice(0, -1), context.zones)
  if (source.text.startsWith('@')) return { zones, searchPath: pathByPlugin(source, context) }
  const text = context.host.readText(source.text)
  if (text === undefined) throw configError(source, `cannot read the file "${source.text}"`)
  const path = [...parseSearchList(text), ROOT]
  return { zones, searchPath: () => path }
}

/** Returns the search lists of a plugin, which may come later; without it, searches nothing. */
function pathByPlugin(source: Word, { block, peers }: SetupContext): SearchPath {
  const name = source.text.slice(1)
  const isHere = block.directives.some((other) => other.name === name)
  if (isHere && !PROVIDERS.has(name)) {
    throw configError(source, `"${name}" provides no search lists; use @kubernetes`)
  }
  let plugin: Plugin | undefined
  return (query, client) => {
    plugin ??= peers().find((peer) => peer.name === name)
    return plugin?.searchPath?.(query, client)
  }
}

function isBelow(query: Query, zone: Uint8Array): boolean {
  return query.nameBytes > zone.length && isWithinZone(query, zone)
}

type Search = {
  readonly path: readonly Uint8Array[]
  readonly successes: Series
}

/**
 * Resolves the base of the name below each element in turn. A failure with a reason ends the
 * search. If nothing is found, the first response counts.
 */
function search(request: Request, next: Next, { path, successes }: Search): MaybePromise<Outcome> {
  const { name } = request
  const base = name.subarray(0, name.length - (path[0] ?? ROOT).length)
  const attempt = (index: number, first?: Outcome): MaybePromise<Outcome> => {
    const element = path[index]
    const candidate = element && joinName(base, element)
    if (element === undefined) return first ?? next(request)
    if (candidate === undefined) return attempt(index + 1, first)
    return andThen(next(deriveRequest(request, { name: candidate })), (outcome) => {
      if (outcome.kind === 'drop' || outcome.kind === 'transfer') return outcome
      if (outcome.kind === 'failure' && outcome.reason !== undefined) return outcome
      if (outcome.kind === 'failure' || isMissing(outcome)) {
        return attempt(index + 1, first ?? withQuestion(outcome, candidate))
      }
      successes.value++
      return withCname(outcome, name)
    })
  }
  return attempt(0)
}

/** Whether a name does not exist. An alias does, also one to a name that does not. */
function isMissing({ rcode, answer }: Reply): boolean {
  return rcode === RCODE.NXDOMAIN && answer.length === 0
}

/** Puts the resolved name in place of the query name, as CoreDNS does. */
function withQuestion(outcome: Outcome, questionName: Uint8Array): Outcome {
  return outcome.kind === 'reply' ? { ...outcome, questionName } : outcome
}

/** Adds a CNAME from the name to the first other owner of a record. */
function withCname(reply: Reply, owner: Uint8Array): Reply {
  const target = reply.answer.find((record) => !equalNames(record.owner, owner))
  if (target === undefined) return reply
  const { ttlSeconds, owner: rdata } = target
  const cname = { owner, type: TYPE.CNAME, class: CLASS.IN, ttlSeconds, rdata }
  return { ...reply, answer: [cname, ...reply.answer] }
}
