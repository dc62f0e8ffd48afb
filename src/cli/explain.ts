/**
 * `kubedoh explain`: shows how a gateway resolves a name.
 * @module
 */
import { listOf, recordOf } from '../bytes/unknown.ts'
import type { Output } from '../node/output.ts'
import type { Input } from './flags.ts'
import { callGateway, printResponse } from './operator-call.ts'

/**
 * Prints the gateway's answer for a name, then the server block, plugins and snapshots behind it.
 */
export async function runExplain(input: Input, output: Output): Promise<void> {
  const [name = '', type = 'A'] = input.args
  const query = new URLSearchParams({ name, type })
  const token = input.text('token')
  const text = await callGateway(input, 'GET', `/v1/explain?${query}`, undefined, token)
  printResponse(input, output, [text, formatExplanation])
}

function formatExplanation(value: unknown): string {
  const { status, answer, authority, serverBlock, plugins, facts, view } = recordOf(value)
  const lines = [
    `answer        ${status}`,
    ...[...listOf(answer), ...listOf(authority)].map((record) => `              ${record}`),
    `server block  ${serverBlock ?? 'none'}`,
    `plugins       ${listOf(plugins).join(' → ')}`,
    ...listOf(facts).map(describeFact),
    `view          ${view === null ? 'everything' : describeView(recordOf(view))}`,
  ]
  return lines.map((line) => `${line}\n`).join('')
}

function describeFact(value: unknown): string {
  const { plugin, zone, cluster, tree, generation, time, freshness, node } = recordOf(value)
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

function describeView(view: Readonly<Record<string, unknown>>): string {
  return ['clusters', 'origins', 'namespaces']
    .map((field) => `${field} ${listOf(view[field]).join(',')}`)
    .join('; ')
}
