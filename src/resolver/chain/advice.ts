/**
 * Warnings about a Corefile that is valid, but unlikely to be intended. Reports only certain
 * problems, and only for Corefiles without errors.
 * @module
 */
import { type Problem, problemAt } from '../../corefile/problem.ts'
import type { ServerBlock, Word } from '../../corefile/server-block.ts'
import { parseZones, type ZoneKey } from '../../corefile/zone-key.ts'
import { formatName, isSubdomain } from '../../dns/names/name.ts'
import type { FactsByPlugin } from '../contract/plugin-entry.ts'
import { type DefaultPorts, STANDARD_PORTS } from '../contract/server-address.ts'
import { type AnsweringPart, answeringParts, common, hasAnswers } from './answering-parts.ts'
import { readBlockSettings } from './block-settings.ts'
import { leftOutBecause } from './left-out.ts'

/** A Corefile and its environment. */
type Advised = {
  readonly blocks: readonly ServerBlock[]
  readonly plugins: FactsByPlugin
  /** Reads a file that the Corefile names; `undefined` if it is missing. */
  readonly readText: (path: string) => string | undefined
  readonly ports?: DefaultPorts
}

type Corefile = Required<Advised>

/** Returns the warnings about all server blocks. */
export function adviseOn(advised: Advised): Problem[] {
  const corefile = { ports: STANDARD_PORTS, ...advised }
  const { blocks, plugins } = corefile
  return blocks.flatMap((block) => {
    const parts = answeringParts(block, plugins)
    return [
      ...oddZones(block, plugins),
      ...silence(block, plugins),
      ...idleZones(block, parts, corefile),
      ...idleParts(inOrder(parts, plugins)),
      ...otherOrder(parts, plugins),
      ...fromPlugins(block, parts, corefile),
    ]
  })
}

/** Warns of a plugin's name among the zones, and of "*", which is a literal label there. */
function oddZones({ keys }: ServerBlock, plugins: FactsByPlugin): Problem[] {
  return keys.flatMap((key) => {
    const name = formatName(key.zone).slice(0, -1)
    if (plugins.has(name) || leftOutBecause(name) !== undefined) {
      return [problemAt(key, `"${name}" is read as a zone here; does a "}" above close too much?`)]
    }
    if (!name.startsWith('*')) return []
    const message = `"*" in "${name}" is a literal label; a zone includes all names below it anyway`
    return [problemAt(key, message)]
  })
}

/** Warns of a block without an answering plugin, which fails every query. */
function silence(block: ServerBlock, plugins: FactsByPlugin): Problem[] {
  if (hasAnswers(block, plugins)) return []
  const message = 'nothing in this server block answers: every query is refused or fails'
  return [problemAt(block, message)]
}

/** Collects the warnings of plugins about their own directives. */
function fromPlugins(
  block: ServerBlock,
  parts: readonly AnsweringPart[],
  { plugins, ports, readText }: Corefile,
): Problem[] {
  const ordered = inOrder(parts, plugins)
  const { addresses = [] } = readBlockSettings(block, plugins)
  const mayDiverge = block.directives.some(({ name }) => {
    const plugin = plugins.get(name)
    return plugin?.rewrites === true || plugin?.admitsSome === true
  })
  const around = { block, addresses, ports, mayDiverge, readText }
  return block.directives.flatMap((directive) => {
    const at = ordered.findIndex((part) => part.directive === directive)
    const zones = ordered[at]?.zones ?? []
    const next = ordered.slice(at + 1).find((part) => common(part.zones, zones).length > 0)
    const { advise } = plugins.get(directive.name) ?? {}
    return advise?.(directive, { ...around, next: next?.directive }) ?? []
  })
}

/** Warns of zones of plugins for which the block gets no query. */
function idleZones(
  block: ServerBlock,
  parts: readonly AnsweringPart[],
  corefile: Corefile,
): Problem[] {
  // A rewritten query stays in its block, even if its new name is in a zone of another block.
  if (block.directives.some(({ name }) => corefile.plugins.get(name)?.rewrites === true)) return []
  return parts.flatMap(({ directive, zoneWords }) =>
    zoneWords.flatMap((word) => {
      const zones = parseZones(word.text, word)
      const reason = zones
        .map((zone) => whyIdle(zone, word, { ...corefile, block }))
        .find((one) => one !== undefined)
      if (reason === undefined) return []
      return [problemAt(word, `"${directive.name}" gets no queries for "${word.text}": ${reason}`)]
    }),
  )
}

function whyIdle(
  zone: Uint8Array,
  word: Word,
  corefile: Corefile & { readonly block: ServerBlock },
): string | undefined {
  const { block } = corefile
  const near = block.keys.filter((key) => common([zone], [key.zone]).length > 0)
  if (near.length === 0) {
    const served = block.keys.map((key) => `"${formatName(key.zone)}"`)
    return `this server block serves only ${served.slice(0, 3).join(', ')}`
  }
  if (near.some((key) => isSubdomain(key.zone, zone))) return undefined
  const others = near.map((key) => servingBlock(zone, { ...corefile, key }))
  const [other] = others
  if (other === undefined || others.includes(block) || others.includes(undefined)) return undefined
  const where = other.file === word.file ? `line ${other.line}` : `${other.file}:${other.line}`
  return `the server block of ${where} serves it`
}

/** Warns of answering directives after one that leaves them no queries. */
function idleParts(ordered: readonly AnsweringPart[]): Problem[] {
  return ordered.flatMap((part, i) => {
    const taker = ordered.slice(0, i).find((before) => leavesNothing(before, part))
    if (taker === undefined) return []
    const { directive, plugin } = taker
    const remedy = plugin.answers?.isRelay
      ? 'takes all of its names'
      : 'answers all of its names itself, and has no "fallthrough" for those it does not know'
    const message = `"${part.directive.name}" gets no queries: "${directive.name}" of line `
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

/** Warns of the first directive that acts before one above it, for the same names. */
function otherOrder(parts: readonly AnsweringPart[], plugins: FactsByPlugin): Problem[] {
  const ordered = inOrder(parts, plugins)
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
 * Whether the order changes responses for a zone. A directive with `fallthrough` keeps no name from
 * later ones, except from a relay, which would have answered them all.
 */
function matters(above: AnsweringPart, part: AnsweringPart, zone: Uint8Array): boolean {
  const isRelay = above.plugin.answers?.isRelay === true
  return isRelay || !part.fallthrough.some((open) => isSubdomain(zone, open))
}

/** Sorts directives by the order in which they act; those of one plugin keep the file's order. */
function inOrder(parts: readonly AnsweringPart[], plugins: FactsByPlugin): AnsweringPart[] {
  const order = [...plugins.keys()]
  const rank = ({ directive }: AnsweringPart): number => order.indexOf(directive.name)
  return parts.toSorted((a, b) => rank(a) - rank(b))
}

/** Where a query arrives, and the blocks that may serve it. */
type ServingPlace = {
  /** A key of `block`, whose transport and port count. */
  readonly key: ZoneKey
  /** The block whose addresses count. */
  readonly block: ServerBlock
  readonly blocks: readonly ServerBlock[]
  readonly ports: DefaultPorts
  readonly plugins: FactsByPlugin
}

/**
 * Finds the block with the longest zone above a name where another block listens; `undefined` if a
 * block that takes only some queries (`view`) makes that uncertain.
 */
export function servingBlock(
  name: Uint8Array,
  { key, block, blocks, ports, plugins }: ServingPlace,
): ServerBlock | undefined {
  const placeOf = ({ transport, port }: ZoneKey, of: ServerBlock): string => {
    const { addresses = [] } = readBlockSettings(of, plugins)
    return [transport, port ?? ports[transport], ...addresses].join(' ')
  }
  const place = placeOf(key, block)
  const candidates = blocks.flatMap((one) =>
    one.keys
      .filter((other) => placeOf(other, one) === place && isSubdomain(name, other.zone))
      .map((other) => ({ block: one, zone: other.zone })),
  )
  const longest = Math.max(0, ...candidates.map(({ zone }) => zone.length))
  const [found, second] = candidates.filter(({ zone }) => zone.length === longest)
  const isCertain =
    second === undefined &&
    found?.block.directives.every((one) => plugins.get(one.name)?.admitsSome !== true)
  return isCertain ? found?.block : undefined
}
