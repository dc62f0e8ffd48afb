/**
 * The text of an explanation for people.
 * @module
 */
import { escapeControls } from '../../dns/bytes/escape-controls.ts'
import { listOf, recordOf } from '../../dns/bytes/unknown.ts'

type Value = Readonly<Record<string, unknown>>

/** Formats the JSON of `/v1/explain`. Escapes what a terminal would interpret. */
export function formatExplanation(value: unknown): string {
  const { status, reason, records, serverBlock, plugins, facts, view, search, hidden } =
    recordOf(value)
  const lines = [
    ...(search === undefined ? [] : formatSearch(search)),
    `answer        ${status}`,
    ...listOf(records).map((one) => formatRecordLine(recordOf(one))),
    ...(reason == null ? [] : formatReason(recordOf(reason))),
    ...listOf(hidden).map((object) => `hidden        ${object}, which the token does not see`),
    `server block  ${serverBlock ?? 'none'}`,
    `plugins       ${listOf(plugins).join(' → ')}`,
    ...listOf(facts).map((fact) => formatFact(recordOf(fact))),
    `view          ${view == null ? 'everything' : formatView(recordOf(view))}`,
  ]
  return lines.map((line) => `${escapeControls(line)}\n`).join('')
}

/** Queries for one name: A and AAAA. */
const FAMILIES = 2

/** Formats the field `search`. */
function formatSearch(value: unknown): string[] {
  const { from, dnsPolicy, ndots, search, nameservers, usesCluster, ...rest } = recordOf(value)
  const { attempts, answeredBy, misses } = rest
  const servers = listOf(nameservers).join(', ')
  const others = servers === '' ? '' : `, nameservers ${servers}`
  const tried = listOf(attempts).map(recordOf)
  const cost = FAMILIES * Number(misses)
  const isAvoidable = cost > 0 && answeredBy !== null
  const names = tried.length === 1 ? 'name' : 'names'
  const hint = isAvoidable ? `; "${answeredBy}" with its dot saves them` : ''
  return [
    `from          ${from}: ${dnsPolicy}, ndots ${ndots}${others}`,
    `search        ${listOf(search).join(' ') || 'none'}`,
    ...(usesCluster === true ? [] : ["note          it does not query the cluster's DNS server"]),
    ...tried.map(({ name, status, text }, i) => {
      const outcome = text === null ? 'wins' : `${text}`
      return `attempt ${String(i + 1).padEnd(6)}${name} ${status}: ${outcome}`
    }),
    `cost          ${tried.length} ${names}; ${cost} queries for A and AAAA are in vain${hint}`,
  ]
}

function formatReason({ text, didYouMean }: Value): string[] {
  const names = listOf(didYouMean)
  return [`why           ${text}`, ...names.map((name) => `did you mean  ${name}`)]
}

function formatRecordLine({ section, record, object, rule }: Value): string {
  const heading = section === 'additional' ? '  also        ' : '              '
  const from = object ?? (rule === null ? undefined : `the ${rule}`)
  const kind = object === null || rule === null ? '' : ` (${rule})`
  return `${heading}${record}${from === undefined ? '' : `  ; ${from}${kind}`}`
}

function formatFact(fact: Value): string {
  const { plugin, zone, cluster, tree, generation, time, freshness, node } = fact
  const of = cluster === undefined ? '' : ` of cluster ${cluster}`
  const snapshot = generation === null ? 'no snapshot' : `generation ${generation} from ${time}`
  const head = `${plugin}    ${zone} (${tree})${of}: ${snapshot}, ${freshness}`
  if (node === undefined) return head
  if (node === null) return `${head}; no such name`
  const { namespace, object, types, isImplied, rivals } = recordOf(node)
  const whose = namespace === '' ? '' : ` in namespace ${namespace}`
  const subject = typeof object === 'string' ? object : `the name${whose}`
  const what =
    listOf(types).join(' ') || (isImplied === true ? 'only names below it' : 'no records')
  const others = listOf(rivals).join(', ')
  return `${head}; ${subject} has ${what}${others === '' ? '' : `, also claimed by ${others}`}`
}

function formatView(view: Value): string {
  return ['clusters', 'origins', 'namespaces']
    .map((field) => `${field} ${[view[field]].flat().join(',')}`)
    .join('; ')
}
