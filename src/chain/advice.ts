/**
 * What works in a Corefile, but hardly as it was meant. Only what is so for certain is told, and
 * only of Corefiles in which nothing is wrong.
 * @module
 */
import { type Problem, problemAt } from '../corefile/problem.ts'
import type { ServerBlock, Word } from '../corefile/server-block.ts'
import { parseZones } from '../corefile/zone-key.ts'
import { parseAddress } from '../dns/address.ts'
import { formatName, isSubdomain } from '../dns/name.ts'
import { HOSTS_OPTIONS } from '../plugins/hosts/hosts.ts'
import { type AnsweringPart, answeringParts, common, hasAnswers } from './answering-parts.ts'
import { type DefaultPorts, STANDARD_PORTS } from './listener.ts'
import { PLUGIN_ORDER } from './registry.ts'
import { servingBlock } from './serving-block.ts'
import { adviseOnUpstreams } from './upstream-advice.ts'

/** Plugins that ask other servers for all of their names. */
const RELAYS: ReadonlySet<string> = new Set(['forward', 'grpc'])

/**
 * Looks through all server blocks.
 * @param readText reads the files in which `forward` finds upstreams
 */
export function adviseOn(
  blocks: readonly ServerBlock[],
  readText: (path: string) => string | undefined,
  ports: DefaultPorts = STANDARD_PORTS,
): Problem[] {
  return blocks.flatMap((block) => {
    const parts = answeringParts(block)
    return [
      ...oddZones(block),
      ...silence(block),
      ...forgedPods(block),
      ...idleHosts(block),
      ...idleZones(block, parts, blocks, ports),
      ...idleParts(parts),
      ...closedTemplates(parts),
      ...otherOrder(parts),
      ...adviseOnUpstreams(block, { readText, ports }),
    ]
  })
}

/** A directive that ended up outside of all braces is read as a zone, and a star as a letter. */
function oddZones({ keys }: ServerBlock): Problem[] {
  return keys.flatMap((key) => {
    const name = formatName(key.zone).slice(0, -1)
    if (PLUGIN_ORDER.includes(name)) {
      return [problemAt(key, `"${name}" is read as a zone here; does a "}" above close too much?`)]
    }
    if (!name.startsWith('*')) return []
    const message = `the "*" of "${name}" stands for itself; a zone has all names below it anyway`
    return [problemAt(key, message)]
  })
}

/** Everything that nobody answers fails (RFC 1035 §4.1.1). */
function silence(block: ServerBlock): Problem[] {
  if (hasAnswers(block)) return []
  const message = 'nothing in this server block answers: every query is refused or fails'
  return [problemAt(block, message)]
}

/** Over TLS and HTTPS come clients from outside, who could have any address named. */
function forgedPods({ keys, directives }: ServerBlock): Problem[] {
  const key = keys.find(({ transport }) => transport !== 'dns')
  if (key === undefined) return []
  const options = directives.flatMap((one) => (one.name === 'kubernetes' ? one.lines : []))
  return options.flatMap(({ words: [option, mode] }) => {
    if (option?.text !== 'pods' || mode?.text !== 'insecure') return []
    const message =
      `"pods insecure" makes a name for any address that a client of "${key.transport}://" ` +
      'thinks of; "pods verified" has those of pods only'
    return [problemAt(mode, message)]
  })
}

/** Lines of `hosts` that have no address are skipped, as they are in hosts files (hosts(5)). */
function idleHosts({ directives }: ServerBlock): Problem[] {
  const lines = directives.flatMap((one) => (one.name === 'hosts' ? one.lines : []))
  return lines.flatMap(({ words: [first] }) => {
    if (first === undefined || HOSTS_OPTIONS.includes(first.text)) return []
    if (parseAddress(first.text.replace(/%.*/, '')) !== undefined) return []
    return [
      problemAt(
        first,
        `"${first.text}" is neither an address nor an option: "hosts" skips this line`,
      ),
    ]
  })
}

/** Zones of plugins for which no query ever comes to the block. */
function idleZones(
  block: ServerBlock,
  parts: readonly AnsweringPart[],
  blocks: readonly ServerBlock[],
  ports: DefaultPorts,
): Problem[] {
  // A rewritten query stays in its block, whatever it asks for then.
  if (block.directives.some(({ name }) => name === 'rewrite')) return []
  return parts.flatMap(({ directive, zoneWords }) =>
    zoneWords.flatMap((word) => {
      const zones = parseZones(word.text, word)
      const reason = zones
        .map((zone) => whyIdle(zone, word, { block, blocks, ports }))
        .find((one) => one !== undefined)
      if (reason === undefined) return []
      return [problemAt(word, `"${directive.name}" is never asked for "${word.text}": ${reason}`)]
    }),
  )
}

function whyIdle(
  zone: Uint8Array,
  word: Word,
  {
    block,
    blocks,
    ports,
  }: { block: ServerBlock; blocks: readonly ServerBlock[]; ports: DefaultPorts },
): string | undefined {
  const near = block.keys.filter((key) => common([zone], [key.zone]).length > 0)
  if (near.length === 0) {
    const served = block.keys.map((key) => `"${formatName(key.zone)}"`)
    return `this server block serves only ${served.slice(0, 3).join(', ')}`
  }
  if (near.some((key) => isSubdomain(key.zone, zone))) return undefined
  const others = near.map((key) => servingBlock(zone, { key, block, blocks, ports }))
  const [other] = others
  if (other === undefined || others.includes(block) || others.includes(undefined)) return undefined
  const where = other.file === word.file ? `line ${other.line}` : `${other.file}:${other.line}`
  return `the server block of ${where} serves it`
}

/** Answering directives that come after one which leaves them nothing. */
function idleParts(parts: readonly AnsweringPart[]): Problem[] {
  return inOrder(parts).flatMap((part, i, ordered) => {
    const taker = ordered.slice(0, i).find((before) => leavesNothing(before, part))
    if (taker === undefined) return []
    const { directive } = taker
    const remedy = RELAYS.has(directive.name)
      ? 'takes all of its names'
      : 'answers all of its names itself, and has no "fallthrough" for those it does not know'
    const message = `"${part.directive.name}" is never asked: "${directive.name}" of line `
    return [problemAt(part.directive, `${message}${directive.line} comes first and ${remedy}`)]
  })
}

function leavesNothing(before: AnsweringPart, part: AnsweringPart): boolean {
  if (!before.takesAll || part.zones.length === 0) return false
  return part.zones.every((zone) => {
    const isCovered = before.zones.some((other) => isSubdomain(zone, other))
    return isCovered && common([zone], before.fallthrough).length === 0
  })
}

/** Templates that end the way of names which they do not match. */
function closedTemplates(parts: readonly AnsweringPart[]): Problem[] {
  return inOrder(parts).flatMap(({ directive, zones, fallthrough }, i, ordered) => {
    const isPartial = directive.lines.some(({ words }) => words[0]?.text === 'match')
    if (directive.name !== 'template' || !isPartial || fallthrough.length > 0) return []
    const after = ordered.slice(i + 1).find((one) => common(one.zones, zones).length > 0)
    if (after === undefined) return []
    const type = directive.args[1]?.text ?? ''
    const message =
      `${type} queries that match no expression fail here; with "fallthrough" they go on to ` +
      `"${after.directive.name}" of line ${after.directive.line}`
    return [problemAt(directive, message)]
  })
}

/** The first directive that acts before one which stands above it, for the same names. */
function otherOrder(parts: readonly AnsweringPart[]): Problem[] {
  const ordered = inOrder(parts)
  for (const [i, part] of parts.entries()) {
    const above = parts.slice(0, i).find((other) => {
      const isLater = ordered.indexOf(other) > ordered.indexOf(part)
      return isLater && common(other.zones, part.zones).some((zone) => matters(other, part, zone))
    })
    if (above === undefined) continue
    const names = [...new Set(ordered.map(({ directive }) => directive.name))]
    const message =
      `"${part.directive.name}" acts before "${above.directive.name}" of line ` +
      `${above.directive.line}, whatever their order here: ${names.join(', ')}`
    return [problemAt(part.directive, message)]
  }
  return []
}

/**
 * Whether names of a zone are answered otherwise than the order in the file suggests: one that lets
 * unknown names through stands in the way of no other but a relay, which would have had them all.
 */
function matters(above: AnsweringPart, part: AnsweringPart, zone: Uint8Array): boolean {
  const isRelay = RELAYS.has(above.directive.name)
  return isRelay || !part.fallthrough.some((open) => isSubdomain(zone, open))
}

/** In the order in which they act; those of one plugin as in the file. */
function inOrder(parts: readonly AnsweringPart[]): AnsweringPart[] {
  const rank = ({ directive }: AnsweringPart): number => PLUGIN_ORDER.indexOf(directive.name)
  return parts.toSorted((a, b) => rank(a) - rank(b))
}
