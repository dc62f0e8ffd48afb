/**
 * Determines which directives of a server block answer queries, for which names, and which names
 * they leave to later plugins, without setting up plugins.
 * @module
 */
import type { Directive, ServerBlock, Word } from '../../corefile/server-block.ts'
import { parseZones } from '../../corefile/zone-key.ts'
import { isSubdomain, ROOT } from '../../dns/names/name.ts'
import type { FactsByPlugin, PluginFacts } from '../contract/plugin-entry.ts'

/** A directive that answers queries. */
export type AnsweringPart = {
  readonly directive: Directive
  readonly plugin: PluginFacts
  /** Words that name zones; none if the zones are the block's. */
  readonly zoneWords: readonly Word[]
  /** Zones that it answers for, within those of the block. */
  readonly zones: readonly Uint8Array[]
  /** Zones whose unknown names it leaves to later plugins. */
  readonly fallthrough: readonly Uint8Array[]
  /** Whether it answers every query for its zones outside of `fallthrough`. */
  readonly takesAll: boolean
}

/** Whether any directive of a block may answer a query. */
export function hasAnswers({ directives }: ServerBlock, plugins: FactsByPlugin): boolean {
  return directives.some(({ name }) => {
    const plugin = plugins.get(name)
    return plugin?.answers !== undefined || plugin?.mayAnswer === true
  })
}

/** Lists the answering directives of a block, in the order of the file. */
export function answeringParts(block: ServerBlock, plugins: FactsByPlugin): AnsweringPart[] {
  const blockZones = block.keys.map(({ zone }) => zone)
  return block.directives.flatMap((directive) => {
    const plugin = plugins.get(directive.name)
    const answers = plugin?.answers
    if (plugin === undefined || answers === undefined) return []
    const zoneWords =
      answers.zoneArgs === undefined ? [] : directive.args.slice(...answers.zoneArgs)
    const named = zoneWords.flatMap((word) => parseZones(word.text, word))
    const zones = zoneWords.length === 0 ? blockZones : common(named, blockZones)
    const fallthrough = fallthroughZones(directive)
    const takesAll = answers.takesAll && !hasOption(directive, answers.leavesSome ?? [])
    return [{ directive, plugin, zoneWords, zones, fallthrough, takesAll }]
  })
}

/** Intersects two lists: returns the zones of all names that are in zones of both. */
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

function hasOption({ lines }: Directive, options: readonly string[]): boolean {
  return lines.some(({ words: [option] }) => options.includes(option?.text ?? ''))
}
