/**
 * The `acl` plugin: answers, refuses, empties or drops queries by client and type (CoreDNS,
 * plugin/acl).
 * @module
 */

import { options, unknownOption, zonesOf } from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import type { Steps } from '../../../dns/bytes/steps.ts'
import { formatName } from '../../../dns/names/name.ts'
import {
  type Network,
  NetworkIndex,
  parseClientAddress,
  parseNetwork,
} from '../../../dns/names/network.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { formatType, parseType } from '../../../dns/names/rr-type.ts'
import { type MetricInfo, metricInfo } from '../../../dns/telemetry/metrics.ts'
import { EXTENDED_ERROR, extendedError } from '../../../dns/wire/edns.ts'
import { EMPTY_REPLY, type Reply } from '../../../dns/wire/message.ts'
import { isWithinZone, type Query } from '../../../dns/wire/query.ts'
import type { Outcome } from '../../contract/outcome.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import type { SetupContext, SetupResult } from '../../contract/setup.ts'
import { closestZone } from '../../plugin-kit/zones.ts'

type Action = 'allow' | 'block' | 'filter' | 'drop'

type Policy = {
  readonly action: Action
  /** `undefined` for all. */
  readonly types: ReadonlySet<number> | undefined
}

type Rule = {
  readonly zones: readonly Uint8Array[]
  readonly policies: readonly Policy[]
  /** The policies by their networks, and those without: lists can have 100,000 networks. */
  readonly byNetwork: NetworkIndex
  readonly forAll: readonly number[]
}

type Verdict = { readonly action: Exclude<Action, 'allow'>; readonly rule: Rule }

/** The part of a rule that applies to one client. */
type ClientRule = {
  readonly zones: readonly Uint8Array[]
  readonly policies: readonly (Pick<Policy, 'types'> & { readonly verdict: Verdict | undefined })[]
}

/** Clients in the cache of rules; a full cache is cleared. */
const CLIENTS_MAX = 4096
const ALL = '*'
/** Networks of a step. */
const STEP_WORDS = 1000
const NO_RULE: ClientRule = { zones: [], policies: [] }

const REFUSED: Reply = {
  ...EMPTY_REPLY,
  rcode: RCODE.REFUSED,
  options: [extendedError(EXTENDED_ERROR.BLOCKED)],
  dnssecOk: true,
}
const FILTERED: Reply = {
  ...EMPTY_REPLY,
  options: [extendedError(EXTENDED_ERROR.FILTERED)],
  dnssecOk: true,
}

const ALLOWED = metricInfo(
  'coredns_acl_allowed_requests_total',
  'Counter of DNS requests being allowed.',
  'server view',
)
const LABELS = 'server zone view'
const ENDED: Readonly<Record<Verdict['action'], MetricInfo>> = {
  block: metricInfo(
    'coredns_acl_blocked_requests_total',
    'Counter of DNS requests being blocked.',
    LABELS,
  ),
  filter: metricInfo(
    'coredns_acl_filtered_requests_total',
    'Counter of DNS requests being filtered.',
    LABELS,
  ),
  drop: metricInfo(
    'coredns_acl_dropped_requests_total',
    'Counter of DNS requests being dropped.',
    LABELS,
  ),
}

/**
 * Configures `acl [ZONE…] { allow|block|filter|drop [type TYPE…] [net NETWORK…] … }`, once for each
 * rule. The first line of a rule that matches a query decides; `*` matches all.
 */
export const aclPlugin: PluginEntry = {
  name: 'acl',
  mayAnswer: true,
  // A policy without networks is for all clients.
  variesByClient: ({ lines }) =>
    lines.some(({ words }) => words.some(({ text }) => text.toLowerCase() === 'net')),
  *setup(directives, { host, server, view, zones }): Steps<SetupResult> {
    const parsed: Rule[] = []
    for (const directive of directives) parsed.push(yield* parseRule(directive, zones))
    const rules = new ClientRules(parsed)
    const allowed = host.metrics.counter(ALLOWED, [server, view])
    return {
      plugin: {
        name: 'acl',
        fastPath: {
          needsSlowPath: (query, client) => rules.judge(query, client.address) !== undefined,
          answered: () => {
            allowed.value++
          },
        },
        serve: (request, next) => {
          const verdict = rules.judge(request.query, request.client.address)
          if (verdict === undefined) {
            allowed.value++
            return next(request)
          }
          const zone = closestZone(verdict.rule.zones, request.lowerName)
          const labels = [server, zone === undefined ? '' : formatName(zone), view]
          host.metrics.counter(ENDED[verdict.action], labels).value++
          return outcomeOf(verdict)
        },
      },
    }
  },
}

function outcomeOf({ action }: Verdict): Outcome {
  switch (action) {
    case 'block':
      return REFUSED
    case 'filter':
      return FILTERED
    case 'drop':
      return { kind: 'drop' }
  }
}

/** All rules; matches a client against their networks once, not for every query. */
class ClientRules {
  private readonly rules: readonly Rule[]
  private readonly zones: readonly Uint8Array[]
  private readonly known = new Map<string, readonly ClientRule[]>()

  constructor(rules: readonly Rule[]) {
    this.rules = rules
    this.zones = rules.flatMap(({ zones }) => zones)
  }

  /** Returns the verdict on a query; `undefined` if the rules allow it. */
  judge(query: Query, address: string): Verdict | undefined {
    // Most names are in the zone of no rule.
    if (!isWithinAny(this.zones, query)) return undefined
    const rules = this.known.get(address) ?? this.learn(address)
    for (let i = 0; i < rules.length; i++) {
      const { zones, policies } = rules[i] ?? NO_RULE
      if (!isWithinAny(zones, query)) continue
      for (let j = 0; j < policies.length; j++) {
        const policy = policies[j]
        if (policy?.types?.has(query.type) === false) continue
        // A query that one rule allows skips the later rules.
        return policy?.verdict
      }
    }
    return undefined
  }

  private learn(text: string): readonly ClientRule[] {
    const address = parseClientAddress(text)
    const rules = this.rules.map((rule): ClientRule => {
      const policies = policiesFor(address, rule)
      // Without a client address, a rule must not allow the query.
      return address === undefined ? { ...rule, policies: [blockAll(rule)] } : { ...rule, policies }
    })
    if (this.known.size >= CLIENTS_MAX) this.known.clear()
    this.known.set(text, rules)
    return rules
  }
}

/** Returns the policies for a client, up to the first one for all types. */
function policiesFor(address: Uint8Array | undefined, rule: Rule): ClientRule['policies'] {
  const numbers = new Set(rule.forAll)
  for (const number of address ? rule.byNetwork.find(address) : []) numbers.add(number)
  const applying: ClientRule['policies'][number][] = []
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const policy = rule.policies[number]
    if (policy === undefined) continue
    const { types, action } = policy
    applying.push({ types, verdict: action === 'allow' ? undefined : { action, rule } })
    if (types === undefined) break
  }
  return applying
}

function blockAll(rule: Rule): ClientRule['policies'][number] {
  return { types: undefined, verdict: { action: 'block', rule } }
}

function isWithinAny(zones: readonly Uint8Array[], query: Query): boolean {
  for (let i = 0; i < zones.length; i++) {
    const zone = zones[i]
    if (zone !== undefined && isWithinZone(query, zone)) return true
  }
  return false
}

/** Parses a rule. Each step takes a line, or some words of a long one. */
function* parseRule(directive: Directive, blockZones: SetupContext['zones']): Steps<Rule> {
  const policies: Policy[] = []
  const byNetwork = new NetworkIndex()
  const forAll: number[] = []
  for (const option of options(directive)) {
    const action = option.name.toLowerCase()
    const isKnown = action === 'allow' || action === 'block'
    if (!isKnown && action !== 'filter' && action !== 'drop') {
      throw unknownOption('acl', option, ['allow', 'block', 'filter', 'drop'])
    }
    const { type, net } = parseSections(option.args)
    const number = policies.push({ action, types: type && parseTypes(type) }) - 1
    const networks = net && (yield* parseNetworks(net))
    if (networks === undefined) forAll.push(number)
    for (const network of networks ?? []) byNetwork.add(network, number)
    yield
  }
  return { zones: zonesOf(directive.args, blockZones), policies, byNetwork, forAll }
}

type Sections = { type?: readonly Word[]; net?: readonly Word[] }

/** Collects the words after `type` and `net`, which may occur several times. */
function parseSections(words: readonly Word[]): Sections {
  const sections: Sections = {}
  for (let at = 0; at < words.length; ) {
    const head = words[at]
    const name = head && sectionName(head)
    if (head === undefined) break
    if (name === undefined) {
      throw configError(head, `expected "type" or "net", got "${head.text}"`)
    }
    const rest = words.slice(at + 1)
    const size = rest.findIndex((word) => sectionName(word) !== undefined)
    const own = size < 0 ? rest : rest.slice(0, size)
    if (own.length === 0) throw configError(head, `"${head.text}" needs at least one value`)
    const before = sections[name] ?? []
    // Words after a "*" are not checked: it matches everything.
    const star = own.findIndex(({ text }) => text === ALL)
    sections[name] = [...before, ...(star < 0 ? own : own.slice(0, star + 1))]
    at += own.length + 1
  }
  return sections
}

function sectionName({ text }: Word): 'type' | 'net' | undefined {
  const name = text.toLowerCase()
  return name === 'type' || name === 'net' ? name : undefined
}

function parseTypes(words: readonly Word[]): ReadonlySet<number> | undefined {
  const types = words.flatMap((word) => {
    if (word.text === ALL) return []
    const type = parseType(word.text)
    if (type === undefined || formatType(type) !== word.text) {
      throw configError(word, `"${word.text}" is not a record type such as A or AAAA`)
    }
    return [type]
  })
  return types.length < words.length ? undefined : new Set(types)
}

/** Parses networks; `undefined` if one of them is `*`. */
function* parseNetworks(words: readonly Word[]): Steps<readonly Network[] | undefined> {
  const networks: Network[] = []
  for (const word of words) {
    if (word.text === ALL) continue
    const bits = word.text.includes(':') ? '/128' : '/32'
    const network = parseNetwork(word.text.includes('/') ? word.text : word.text + bits)
    if (network === undefined) {
      throw configError(word, `"${word.text}" is not an address or a block such as 10.0.0.0/8`)
    }
    networks.push(network)
    if (networks.length % STEP_WORDS === 0) yield
  }
  return networks.length < words.length ? undefined : networks
}
