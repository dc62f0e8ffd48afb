/**
 * Explains a response: which server block took the query, which plugins it reached, their facts,
 * the object behind each record, and the reason for a response without records.
 * @module
 */

import { formatName } from '../../dns/names/name.ts'
import { formatRcode, RCODE } from '../../dns/names/rcode.ts'
import { isTransferType, TYPE } from '../../dns/names/rr-type.ts'
import { OPTION, readExtendedError } from '../../dns/wire/edns.ts'
import { parseResponse, type Response } from '../../dns/wire/message.ts'
import { isWithinZone, type Query } from '../../dns/wire/query.ts'
import type { Client } from '../contract/client.ts'
import type { Fact, Reason } from '../contract/fact.ts'
import type { Explainer, Spans } from '../contract/request.ts'
import { NO_PLUGIN } from './chain.ts'
import { type ExplainedRecord, explainRecords } from './explained-records.ts'
import { Incoming } from './incoming.ts'
import { findChain, type Listener } from './listener.ts'
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
  readonly records: readonly ExplainedRecord[]
  /** `undefined` for a response with the records that the client asked for. */
  readonly reason: Reason | undefined
}

/** The explanation of a response without plugins. */
export const UNEXPLAINED: Omit<Explanation, 'reply'> = {
  serverBlock: undefined,
  plugins: [],
  facts: [],
  records: [],
  reason: undefined,
}

/** Plugins and failures of one answer. */
type Path = {
  readonly plugins: string[]
  /** Plugins that can explain, with the query that each of them got. */
  readonly steps: { readonly plugin: Explainer; readonly query: Query }[]
  /** The reason of the last failure; '' for none. */
  failure: string
}

/** Plugins of one answer that explain; more are left out. */
const STEPS_MAX = 32
const { NOERROR, REFUSED, SERVFAIL } = RCODE
const { ANY } = TYPE
const NO_FACTS: readonly Fact[] = []

/** Answers a message on the slow path and explains the response. Never throws or rejects. */
export async function explain(
  resolver: Resolver,
  listener: Listener,
  incoming: Incoming,
): Promise<Explanation> {
  const { parsed: query, client } = incoming
  const path: Path = { plugins: [], steps: [], failure: '' }
  const reply = await resolver.answerTraced(listener, incoming, traceInto(path))
  const { plugins, steps } = path
  if (query.kind === 'refusal') return { ...UNEXPLAINED, reply }
  const chain = findChain(listener, query, client)
  const served = listener.zones.find((one) => one.chain === chain && isWithinZone(query, one.zone))
  const facts = await factsOf(steps, client)
  const response = reply && parseResponse(reply)
  const explainers = [...new Set(steps.map(({ plugin }) => plugin))]
  const explained = { response, facts, explainers, client, answeredBy: plugins.at(-1) ?? null }
  return {
    reply,
    serverBlock: served && formatName(served.zone),
    plugins,
    facts,
    records: response === undefined ? [] : await explainRecords(query, { ...explained, response }),
    reason: reasonFor(query, { response, facts, path, hasBlock: chain !== undefined, client }),
  }
}

/** Explains a message of a client to the first listener; `undefined` without one. */
export async function explainMessage(
  resolver: Resolver | undefined,
  message: Uint8Array,
  client: Client,
): Promise<Explanation | undefined> {
  const [listener] = resolver?.listeners ?? []
  if (resolver === undefined || listener === undefined) return undefined
  return explain(resolver, listener, new Incoming().read(message, client))
}

function traceInto(path: Path): Spans {
  return {
    traceId: '',
    begin: (plugin, { query }) => {
      path.plugins.push(plugin.name)
      if (plugin.explain !== undefined && path.steps.length < STEPS_MAX) {
        path.steps.push({ plugin, query })
      }
      return (outcome) => {
        if (outcome?.kind === 'failure') path.failure ||= outcome.reason ?? ''
      }
    },
  }
}

async function factsOf(steps: Path['steps'], client: Client): Promise<readonly Fact[]> {
  const all = steps.map(({ plugin, query }) => plugin.explain?.(query, client) ?? NO_FACTS)
  return (await Promise.all(all)).flat()
}

type Explained = {
  readonly response: Response | undefined
  readonly facts: readonly Fact[]
  readonly path: Path
  readonly hasBlock: boolean
  readonly client: Client
}

function reasonFor(query: Query, explained: Explained): Reason | undefined {
  const { response, facts, hasBlock, client } = explained
  if (response === undefined) return undefined
  const { rcode, answer } = response
  const isAnswered = answer.some(({ type }) => type === query.type || query.type === ANY)
  if (rcode === NOERROR && isAnswered) return undefined
  if (isTransferType(query.type) && rcode === REFUSED) {
    return because('transfer', 'the server refuses zone transfers here')
  }
  if (!hasBlock) {
    const hint = client.visibility === undefined ? '' : ' that this token sees'
    return because('no_server_block', `no server block${hint} has the name`, formatName(query.name))
  }
  if (rcode === SERVFAIL) return unavailable(facts) ?? byPlugin(explained, response)
  if (isAnswered) return byPlugin(explained, response)
  return factReason(facts) ?? byPlugin(explained, response)
}

/** Returns the reason for the name that the query led to: the first of the most exact ones. */
function factReason(facts: readonly Fact[]): Reason | undefined {
  const name = facts.findLast(({ reason }) => reason !== undefined)?.name
  const reasons = facts.flatMap((fact) => (fact.name === name ? (fact.reason ?? []) : []))
  const exact = (code: string): number => EXACT.indexOf(code)
  return reasons.sort((a, b) => exact(b.code) - exact(a.code))[0]
}

/** Reasons of several snapshots for one name, the more exact ones later; all others come first. */
const EXACT = [
  ...['no_namespace', 'no_service', 'no_hostname', 'no_endpoints', 'not_ready', 'no_endpoint'],
  ...['too_many_labels', 'no_port', 'empty_name', 'wrong_type'],
]

const UNFIT: Readonly<Record<string, string>> = {
  missing: 'the server has no snapshot of the cluster',
  expired: 'the newest snapshot is too old to answer from',
  partial: 'the cluster is not read completely yet, so the name may still appear',
}

function unavailable(facts: readonly Fact[]): Reason | undefined {
  const fact = facts.findLast(({ freshness }) => freshness in UNFIT)
  if (fact === undefined) return undefined
  const { freshness, cluster = null } = fact
  return because(`snapshot_${freshness}`, UNFIT[freshness] ?? '', cluster)
}

/** Returns the reason of a response that came from a plugin without facts, or from upstream. */
function byPlugin({ path }: Explained, { rcode, options }: Response): Reason {
  if (path.failure === NO_PLUGIN) return because('no_plugin', NO_PLUGIN)
  const plugin = path.plugins.at(-1) ?? 'the server'
  const status = rcode === NOERROR ? 'NODATA' : formatRcode(rcode)
  const errors = options.flatMap(({ data, code }) =>
    code === OPTION.EXTENDED_ERROR ? [readExtendedError(data)] : [],
  )
  const texts = [path.failure, ...errors.map((error) => error?.text || error?.name)]
  const why = texts.find((text) => text !== undefined && text !== '')
  const suffix = why === undefined ? '' : `: ${why}`
  return because('plugin', `${plugin} answered ${status}${suffix}`, plugin)
}

function because(code: string, text: string, missing: string | null = null): Reason {
  return { code, text, missing, didYouMean: [] }
}
