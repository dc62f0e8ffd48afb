/**
 * The `template` plugin: answers with records that templates in the Corefile make from the query
 * (CoreDNS, plugin/template).
 * @module
 */

import { type Problem, problemAt } from '../../../corefile/problem.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import { CLASS } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import type { Query } from '../../../dns/wire/query.ts'
import type { DirectiveSurroundings, PluginEntry } from '../../contract/plugin-entry.ts'
import { closestZoneIndex } from '../../plugin-kit/zones.ts'
import { metadataOf } from '../metadata/metadata.ts'
import { type MayMatch, mayMatchPattern } from '../rewrite/name-match.ts'
import { parseRule, type Rule } from './options.ts'
import { serveRules } from './serve.ts'

/** A word that may read the client's address, or metadata that depend on it. */
const CLIENT_WORD = /\b(?:Remote|Meta|metadata|client_ip|port)\b/

/**
 * Configures `template CLASS TYPE [ZONE…] { match REGEX… var NAME EXPRESSION expr EXPRESSION
 * answer|additional|authority RECORD… rcode CODE ederror CODE [REASON] fallthrough [ZONE…] }`. Each
 * directive adds a rule; the first match answers.
 */
export const templatePlugin: PluginEntry = {
  name: 'template',
  answers: { zoneArgs: [2], takesAll: false },
  advise: adviseOnFallthrough,
  variesByClient: ({ lines }) =>
    lines.some(({ words }) => words.some(({ text }) => CLIENT_WORD.test(text))),
  setup: (directives, { host, zones, server, view, peers }) => {
    const rules = directives.map((directive) => parseRule(directive, zones))
    const fastRules = rules.map(fastRule)
    const surroundings = { metrics: host.metrics, server, view, metadata: metadataOf(peers) }
    return {
      plugin: {
        name: 'template',
        fastPath: { needsSlowPath: (query) => needsSlowPath(fastRules, query) },
        serve: (request, next) => serveRules(request, next, rules, surroundings),
      },
    }
  },
}

/** The part of a rule that decides whether a query needs the slow path. */
type FastRule = Pick<Rule, 'zones' | 'type' | 'fallthrough'> & {
  /** One test for each pattern; empty if every name matches. */
  readonly mayMatch: readonly MayMatch[]
}

function fastRule({ zones, type, class: rrClass, fallthrough, patterns }: Rule): FastRule {
  const hasClassIn = rrClass === CLASS.IN || rrClass === CLASS.ANY
  const mayMatch = patterns.map(mayMatchPattern)
  return { zones: hasClassIn ? zones : [], type, fallthrough, mayMatch }
}

/** Whether a rule may answer or end a query of class IN. */
function needsSlowPath(rules: readonly FastRule[], query: Query): boolean {
  for (let i = 0; i < rules.length; i++) {
    const rule = rules[i]
    if (rule !== undefined && concerns(rule, query)) return true
  }
  return false
}

function concerns({ zones, type, fallthrough, mayMatch }: FastRule, query: Query): boolean {
  if (type !== TYPE.ANY && query.type !== TYPE.ANY && query.type !== type) return false
  if (closestZoneIndex(zones, query) < 0) return false
  if (mayMatch.length === 0) return true
  if (fallthrough === undefined || closestZoneIndex(fallthrough, query) < 0) return true
  for (let i = 0; i < mayMatch.length; i++) if (mayMatch[i]?.(query) === true) return true
  return false
}

/** Warns of a rule without `fallthrough`, which fails the queries that it does not match. */
function adviseOnFallthrough(directive: Directive, { next }: DirectiveSurroundings): Problem[] {
  const has = (name: string): boolean =>
    directive.lines.some(({ words }) => words[0]?.text === name)
  if (next === undefined || !has('match') || has('fallthrough')) return []
  const message =
    `${directive.args[1]?.text ?? ''} queries that match no expression fail here; with ` +
    `"fallthrough" they go on to "${next.name}" of line ${next.line}`
  return [problemAt(directive, message)]
}
