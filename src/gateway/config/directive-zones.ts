/**
 * The zones of the directives that read clusters, as the Corefile has them.
 * @module
 */
import { zonesOf } from '../../corefile/arguments.ts'
import type { ServerBlock } from '../../corefile/server-block.ts'
import { EVERY_CLUSTER, wildcardParent } from '../../corefile/wildcard-zone.ts'
import { equalNames, joinName, parseRelativeName } from '../../dns/names/name.ts'
import { CLUSTER_READERS } from './config.ts'

/** A zone, and the clusters that the directive names; `undefined` where it names none. */
export type DirectiveZone = {
  readonly zone: Uint8Array
  readonly clusters: readonly (string | undefined)[]
}

/** Lists the zones; those of `cluster *` begin with the label `*`. */
export function directiveZones(blocks: readonly ServerBlock[]): readonly DirectiveZone[] {
  return blocks.flatMap(({ keys, directives }) =>
    directives
      .filter(({ name }) => CLUSTER_READERS.has(name))
      .flatMap(({ args, lines }) => {
        const named = lines.find(({ words: [first] }) => first?.text === 'cluster')
        const texts = named?.words.slice(1).map(({ text }) => text)
        const clusters: readonly (string | undefined)[] = texts ?? [undefined]
        const ofBlock = keys.map(({ zone }) => zone)
        return zonesOf(args, ofBlock).map((zone) => ({ clusters, zone }))
      }),
  )
}

/** The zones that a cluster of the directory would get, and those of them that are in use. */
type ClusterPlace = { readonly zones: readonly Uint8Array[]; readonly taken: readonly Uint8Array[] }

/** Returns a function that finds the zones of `cluster *` for a cluster. */
export function clusterPlaces(blocks: readonly ServerBlock[]): (cluster: string) => ClusterPlace {
  const all = directiveZones(blocks)
  const parents = all.flatMap(({ clusters: [first], zone }) =>
    first === EVERY_CLUSTER ? (wildcardParent(zone) ?? []) : [],
  )
  const others = [...all, ...blocks.flatMap(({ keys }) => keys)]
  return (cluster) => {
    const label = parseRelativeName(cluster)
    const zones = parents.flatMap((parent) => (label && joinName(label, parent)) ?? [])
    const taken = zones.filter((zone) => others.some((other) => equalNames(other.zone, zone)))
    return { zones, taken }
  }
}
