/**
 * The `log` plugin: writes a line per query in CoreDNS's format.
 * @module
 */

import type { Observation } from '../../chain/observation.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Setup } from '../../chain/setup.ts'
import { argTexts, options, unknownOption } from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'
import type { Directive, Word } from '../../corefile/server-block.ts'
import { parseResponse } from '../../dns/message.ts'
import { parseName, ROOT } from '../../dns/name.ts'
import { TYPE } from '../../dns/rr-type.ts'
import {
  type ResponseClass,
  type ResponseKind,
  responseClass,
  responseKind,
} from '../../plugin-kit/response-class.ts'
import { closestZoneIndex } from '../../plugin-kit/zones.ts'
import { hasMetadata, metadataOf } from '../metadata/metadata.ts'
import { COMMON, compileFormat, type LineFormat } from './format.ts'

type Rule = {
  readonly zones: readonly Uint8Array[]
  readonly format: LineFormat
  /** `undefined` for all classes. */
  readonly classes: ReadonlySet<ResponseClass> | undefined
}

/** CoreDNS's names of response kinds, for `{/log/type}`. */
const KIND_NAMES: Readonly<Record<ResponseKind, string>> = {
  answer: 'NOERROR',
  nodata: 'NODATA',
  nxdomain: 'NXDOMAIN',
  delegation: 'DELEGATION',
  'server-error': 'SERVERERROR',
  'other-error': 'OTHERERROR',
}

/**
 * Configures `log [NAME…] [FORMAT] { class CLASS… }`. Each directive adds a rule; only the first
 * rule for a query's name applies, whether or not it includes the response's class.
 */
const setup: Setup = (directives, { host, peers }) => {
  const rules = directives.map(parseRule)
  const fromPlugins = metadataOf(peers)
  return {
    plugins: [
      {
        name: 'log',
        observe: (observation) => {
          const { query } = observation
          const rule = rules.find(({ zones }) => closestZoneIndex(zones, query) >= 0)
          if (rule === undefined || !isWanted(rule, observation)) return
          const metadata = (label: string): string | undefined =>
            hasMetadata(peers())
              ? (ownMetadata(label, observation) ?? fromPlugins(label, observation))
              : undefined
          host.print(rule.format({ observation, metadata }))
        },
      },
    ],
  }
}

/** The entry of `log`. */
export const logPlugin: PluginEntry = {
  name: 'log',
  isAtEdge: true,
  options: ['class'],
  setup,
}

/** Returns the value of a label that `log` itself provides. */
function ownMetadata(label: string, observation: Observation): string | undefined {
  if (label === 'log/type') return classify(observation).name
  return label === 'log/class' ? classify(observation).responseClass : undefined
}

function parseRule(directive: Directive): Rule {
  const names = [...directive.args]
  const last = names.at(-1)
  const hasFormat = last?.text.includes('{') === true
  if (hasFormat) names.pop()
  const classes = options(directive).flatMap((option) => {
    if (option.name !== 'class') throw unknownOption('log', option, ['class'])
    argTexts(option, 1, Infinity)
    return option.args.map(parseClassWord)
  })
  return {
    zones: names.length === 0 ? [ROOT] : names.map(parseScope),
    format: compileFormat(hasFormat ? last.text : COMMON),
    classes: classes.length === 0 || classes.includes('all') ? undefined : toClassSet(classes),
  }
}

function parseScope(word: Word): Uint8Array {
  const name = parseName(word.text.toLowerCase())
  if (name === undefined) throw configError(word, `"${word.text}" is not a domain name`)
  return name
}

function parseClassWord(word: Word): ResponseClass | 'all' {
  const { text } = word
  if (text === 'all' || text === 'success' || text === 'denial' || text === 'error') return text
  throw configError(word, `"${text}" is not one of all, success, denial, error`)
}

function toClassSet(classes: readonly (ResponseClass | 'all')[]): ReadonlySet<ResponseClass> {
  return new Set(classes.filter((value) => value !== 'all'))
}

function isWanted({ classes }: Rule, observation: Observation): boolean {
  return classes === undefined || classes.has(classify(observation).responseClass)
}

/** Classifies a reply; as in CoreDNS, missing replies and transfers are errors. */
function classify({ query, reply, replyBytes }: Observation): {
  readonly name: string
  readonly responseClass: ResponseClass
} {
  if (query.type === TYPE.AXFR || query.type === TYPE.IXFR) {
    return { name: 'META', responseClass: 'error' }
  }
  const response = parseResponse(reply.subarray(0, replyBytes))
  if (response === undefined) return { name: KIND_NAMES['other-error'], responseClass: 'error' }
  const { rcode, answer, authority } = response
  const has = (wanted: number): boolean => authority.some(({ type }) => type === wanted)
  const facts = { rcode, answerCount: answer.length, hasSoa: has(TYPE.SOA), hasNs: has(TYPE.NS) }
  const kind = responseKind(facts)
  return { name: KIND_NAMES[kind], responseClass: responseClass(kind) }
}
