/**
 * Responses from templates (CoreDNS, plugin/template/template.go).
 * @module
 */

import { formatName } from '../../../dns/names/name.ts'
import { nameText } from '../../../dns/names/name-text.ts'
import { RCODE } from '../../../dns/names/rcode.ts'
import { CLASS, formatClass } from '../../../dns/names/rr-class.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { type Metrics, metricInfo } from '../../../dns/telemetry/metrics.ts'
import { EMPTY_REPLY, type Reply, type ResourceRecord } from '../../../dns/wire/message.ts'
import { ExpressionError, type Value } from '../../../go/expression/value.ts'
import { type Datum, TemplateError } from '../../../go/template/datum.ts'
import { executeTemplate } from '../../../go/template/execute.ts'
import { parseFirstRecord } from '../../../snapshot/records/zone-text.ts'
import { andThen, type MaybePromise } from '../../contract/maybe-promise.ts'
import { failure, type Outcome } from '../../contract/outcome.ts'
import type { ClientQuery, Next, Request } from '../../contract/request.ts'
import { typeText } from '../../plugin-kit/mnemonics.ts'
import { closestZone, fallsThrough } from '../../plugin-kit/zones.ts'
import type { RecordTemplate, Rule, Section } from './options.ts'
import { namedGroups, queryData, type TemplateMatch } from './query-data.ts'

/** The context of all rules. */
export type Surroundings = {
  readonly metrics: Metrics
  readonly server: string
  readonly view: string
  readonly metadata: (label: string, clientQuery: ClientQuery) => string | undefined
}

const MATCHES = metricInfo(
  'coredns_template_matches_total',
  'Counter of template regex matches.',
  'server zone view class type',
)
const FAILURE_LABELS = 'server zone view class type section template'
const TEMPLATE_FAILURES = metricInfo(
  'coredns_template_template_failures_total',
  'Counter of go template failures.',
  FAILURE_LABELS,
)
const RECORD_FAILURES = metricInfo(
  'coredns_template_rr_failures_total',
  'Counter of mis-templated RRs.',
  FAILURE_LABELS,
)

/** A match, or what happens without one. */
type Verdict = TemplateMatch | 'stop' | 'next'

/** The output of a template is not a record. */
class RecordError extends Error {}

/** Answers from the first rule that matches, or calls the next plugin. */
export function serveRules(
  request: Request,
  next: Next,
  rules: readonly Rule[],
  surroundings: Surroundings,
): MaybePromise<Outcome> {
  for (const rule of rules) {
    const verdict = judge(rule, request, surroundings)
    if (verdict === 'next') continue
    return verdict === 'stop'
      ? failure(RCODE.SERVFAIL)
      : answer(rule, request, verdict, surroundings)
  }
  return next(request)
}

function judge(rule: Rule, request: Request, { metadata }: Surroundings): Verdict {
  const { lowerName, type, class: rrClass } = request
  const zone = closestZone(rule.zones, lowerName)
  if (zone === undefined || !fits(rule.class, rrClass) || !fits(rule.type, type)) return 'next'
  const otherwise = fallsThrough(rule.fallthrough, lowerName) ? 'next' : 'stop'
  const name = nameText(lowerName)
  const found = findMatch(rule, name)
  if (found === undefined) return otherwise
  const context = {
    query: request.query,
    client: request.client,
    groups: namedGroups(found),
    variables: new Map<string, Value>(),
    metadata: (label: string) => metadata(label, request),
  }
  try {
    for (const { name: variable, expression } of rule.variables) {
      context.variables.set(variable, expression.evaluate(context))
    }
    const isMet = rule.conditions.every(({ evaluate }) => evaluate(context) === true)
    if (!isMet) return otherwise
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error
    return 'stop'
  }
  return {
    ...found,
    query: request.query,
    name: request.name,
    remote: request.client.address,
    zone: formatName(zone),
    lowerName: name,
    class: mnemonic(formatClass(rrClass === CLASS.ANY ? rule.class : rrClass)),
    type: mnemonic(typeText(type === TYPE.ANY ? rule.type : type)),
    variables: context.variables,
    metadata: context.metadata,
  }
}

/** Returns '' for a type or class without a mnemonic, such as TYPE65280. */
function mnemonic(text: string): string {
  return /^(TYPE|CLASS)\d/.test(text) ? '' : text
}

/** Compares types or classes; 255 is ANY in both. */
function fits(own: number, wanted: number): boolean {
  return own === TYPE.ANY || wanted === TYPE.ANY || own === wanted
}

function findMatch(
  { patterns }: Rule,
  name: string,
): Pick<TemplateMatch, 'regex' | 'groups' | 'groupNames'> | undefined {
  if (patterns.length === 0) return { regex: '.*', groups: [name], groupNames: [''] }
  for (const pattern of patterns) {
    const match = pattern.exec(name)
    if (match === undefined) continue
    const groups = match.groups.map((group) => group ?? '')
    return { regex: pattern.source, groups, groupNames: pattern.groupNames }
  }
  return undefined
}

function answer(
  rule: Rule,
  request: Request,
  match: TemplateMatch,
  surroundings: Surroundings,
): MaybePromise<Outcome> {
  const { metrics, server, view } = surroundings
  const labels = [server, match.zone, view, match.class, match.type]
  metrics.counter(MATCHES, labels).value++
  if (rule.rcode === RCODE.SERVFAIL) return failure(RCODE.SERVFAIL)
  const data = queryData(match)
  const make = (section: Section): ResourceRecord[] =>
    rule.records[section].map((template) =>
      makeRecord(template, data, { section, metrics, labels }),
    )
  try {
    const reply: Reply = {
      ...EMPTY_REPLY,
      rcode: rule.rcode,
      authoritative: true,
      answer: make('answer'),
      additional: make('additional'),
      authority: make('authority'),
      ...(rule.extendedErrors.length > 0 && { options: rule.extendedErrors, dnssecOk: true }),
    }
    return withTargets(request, reply)
  } catch (error) {
    if (!(error instanceof TemplateError) && !(error instanceof RecordError)) throw error
    return failure(RCODE.SERVFAIL, error.message)
  }
}

function makeRecord(
  template: RecordTemplate,
  data: Datum,
  {
    section,
    metrics,
    labels,
  }: {
    readonly section: Section
    readonly metrics: Metrics
    readonly labels: readonly string[]
  },
): ResourceRecord {
  const failureLabels = [...labels, section, template.text]
  let text = ''
  try {
    text = executeTemplate(template.parts, data)
  } catch (error) {
    if (error instanceof TemplateError) metrics.counter(TEMPLATE_FAILURES, failureLabels).value++
    throw error
  }
  const record = parseFirstRecord(text)
  if (record !== undefined) return record
  metrics.counter(RECORD_FAILURES, failureLabels).value++
  throw new RecordError(`the template output is not a record: "${text}"`)
}

/** For address queries, appends to each CNAME the server's own answer for its target. */
function withTargets(request: Request, reply: Reply): MaybePromise<Reply> {
  if (request.type !== TYPE.A && request.type !== TYPE.AAAA) return reply
  let joined: MaybePromise<Reply> = { ...reply, answer: [] }
  for (const record of reply.answer) {
    joined = andThen(joined, (before) => {
      const own = { ...before, answer: [...before.answer, record] }
      if (record.type !== TYPE.CNAME) return own
      return andThen(request.lookup(record.rdata, request.type), (outcome) =>
        outcome.kind === 'reply' ? withTarget(own, outcome) : own,
      )
    })
  }
  return joined
}

function withTarget(own: Reply, { answer, truncated, origin }: Reply): Reply {
  return {
    ...own,
    truncated,
    origin: origin === 'snapshot' ? origin : own.origin,
    answer: [...own.answer, ...answer],
  }
}
