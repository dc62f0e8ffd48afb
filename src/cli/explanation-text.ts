/**
 * The text of an explanation for people.
 * @module
 */
import { listOf, recordOf } from '../bytes/unknown.ts'

type Value = Readonly<Record<string, unknown>>

/** Formats the JSON of `/v1/explain`. Escapes what a terminal would interpret. */
export function formatExplanation(value: unknown): string {
  const { status, reason, records, serverBlock, plugins, facts, view } = recordOf(value)
  const lines = [
    `answer        ${status}`,
    ...listOf(records).map((one) => formatRecordLine(recordOf(one))),
    ...(reason == null ? [] : formatReason(recordOf(reason))),
    `server block  ${serverBlock ?? 'none'}`,
    `plugins       ${listOf(plugins).join(' → ')}`,
    ...listOf(facts).map((fact) => formatFact(recordOf(fact))),
    `view          ${view == null ? 'everything' : formatView(recordOf(view))}`,
  ]
  return lines.map((line) => `${escapeControls(line)}\n`).join('')
}

/** Formats a reason and similar names, as lines with a heading each. */
export function formatReason({ text, didYouMean }: Value): string[] {
  const names = listOf(didYouMean)
  return [`why           ${text}`, ...names.map((name) => `did you mean  ${name}`)]
}

/**
 * Escapes control characters, marks of text direction and other invisible characters: names in
 * records come from anybody.
 */
export function escapeControls(text: string): string {
  return text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0
    return `\\u{${code.toString(16)}}`
  })
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
    .map((field) => `${field} ${listOf(view[field]).join(',')}`)
    .join('; ')
}
