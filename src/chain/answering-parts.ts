/**
 * Which directives of a server block answer queries, for which names, and what they let through:
 * as far as the Corefile's words tell, without configuring anything.
 * @module
 */
import type { Directive, ServerBlock, Word } from '../corefile/server-block.ts'
import { parseZones } from '../corefile/zone-key.ts'
import { isSubdomain, ROOT } from '../dns/name.ts'

/** A directive that answers queries. */
export type AnsweringPart = {
  readonly directive: Directive
  /** Words that name zones; none when the zones are the block's. */
  readonly zoneWords: readonly Word[]
  /** Zones that it answers for, within those of the block. */
  readonly zones: readonly Uint8Array[]
  /** Zones whose unknown names it lets through. */
  readonly fallthrough: readonly Uint8Array[]
  /** Whether it answers every query for its zones when it lets nothing through. */
  readonly takesAll: boolean
}

type Reader = {
  /** Which arguments name zones. */
  readonly zoneWords: (directive: Directive) => readonly Word[]
  readonly takesAll: (directive: Directive) => boolean
}

const all: Reader['takesAll'] = () => true
const some: Reader['takesAll'] = () => false
const args: Reader['zoneWords'] = (directive) => directive.args
const argsFrom =
  (start: number): Reader['zoneWords'] =>
  (directive) =>
    directive.args.slice(start)

/** Plugins that answer. */
const READERS: Readonly<Record<string, Reader>> = {
  any: { zoneWords: argsFrom(Infinity), takesAll: some },
  chaos: { zoneWords: argsFrom(Infinity), takesAll: some },
  template: { zoneWords: argsFrom(2), takesAll: some },
  hosts: { zoneWords: argsFrom(1), takesAll: all },
  route53: { zoneWords: argsFrom(Infinity), takesAll: some },
  azure: { zoneWords: argsFrom(Infinity), takesAll: some },
  clouddns: { zoneWords: argsFrom(Infinity), takesAll: some },
  k8s_external: { zoneWords: args, takesAll: all },
  kubernetes: { zoneWords: args, takesAll: all },
  k8s_gateway: { zoneWords: args, takesAll: all },
  file: { zoneWords: argsFrom(1), takesAll: all },
  auto: { zoneWords: args, takesAll: some },
  secondary: { zoneWords: args, takesAll: all },
  etcd: { zoneWords: args, takesAll: all },
  forward: { zoneWords: (directive) => directive.args.slice(0, 1), takesAll: takesAllForwarded },
  grpc: { zoneWords: (directive) => directive.args.slice(0, 1), takesAll: takesAllForwarded },
  erratic: { zoneWords: argsFrom(Infinity), takesAll: all },
  whoami: { zoneWords: argsFrom(Infinity), takesAll: all },
  nomad: { zoneWords: args, takesAll: some },
}

/** Plugins that ask other servers, or decide themselves what a client may see. */
const GUARDED: ReadonlySet<string> = new Set(['kubernetes', 'forward', 'grpc'])

/** Whether a plugin answers with names of its own for every client. */
export function hasOwnNames(plugin: string): boolean {
  return Object.hasOwn(READERS, plugin) && !GUARDED.has(plugin)
}

/** Plugins that answer some queries of any name, besides those above. */
const ANSWERS_SOME: ReadonlySet<string> = new Set(['acl', 'dns64', 'local', 'autopath', 'dnssec'])

/** Options by which a relay leaves names or replies to who comes after it. */
const RELAY_LEAVES: ReadonlySet<string> = new Set(['except', 'next', 'next_on_nodata'])

/** Whether any directive of a block may answer a query. */
export function hasAnswers({ directives }: ServerBlock): boolean {
  return directives.some(({ name }) => Object.hasOwn(READERS, name) || ANSWERS_SOME.has(name))
}

/** Lists the answering directives of a block, in the order of the file. */
export function answeringParts(block: ServerBlock): AnsweringPart[] {
  const blockZones = block.keys.map(({ zone }) => zone)
  return block.directives.flatMap((directive) => {
    const reader = Object.hasOwn(READERS, directive.name) ? READERS[directive.name] : undefined
    if (reader === undefined) return []
    const zoneWords = reader.zoneWords(directive)
    const named = zoneWords.flatMap((word) => parseZones(word.text, word))
    const zones = zoneWords.length === 0 ? blockZones : common(named, blockZones)
    const fallthrough = fallthroughZones(directive)
    return [{ directive, zoneWords, zones, fallthrough, takesAll: reader.takesAll(directive) }]
  })
}

/** Names that are in both of two lists of zones, as zones. */
export function common(some: readonly Uint8Array[], others: readonly Uint8Array[]): Uint8Array[] {
  return some.flatMap((zone) =>
    others.flatMap((other) => {
      if (isSubdomain(zone, other)) return [zone]
      return isSubdomain(other, zone) ? [other] : []
    }),
  )
}

function fallthroughZones({ lines }: Directive): Uint8Array[] {
  return lines.flatMap(({ words: [option, ...zones] }) => {
    if (option?.text !== 'fallthrough') return []
    return zones.length === 0 ? [ROOT] : zones.flatMap((word) => parseZones(word.text, word))
  })
}

function takesAllForwarded({ lines }: Directive): boolean {
  return !lines.some(({ words }) => RELAY_LEAVES.has(words[0]?.text ?? ''))
}
