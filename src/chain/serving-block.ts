/**
 * Determines from a Corefile which server block gets the queries for a name.
 * @module
 */
import type { ServerBlock } from '../corefile/server-block.ts'
import type { ZoneKey } from '../corefile/zone-key.ts'
import { isSubdomain } from '../dns/name.ts'
import { readBlockSettings } from './block-settings.ts'
import type { FactsByPlugin } from './plugin-entry.ts'
import type { DefaultPorts } from './server-address.ts'

/** Where a query arrives, and the blocks that may serve it. */
export type ServingPlace = {
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
