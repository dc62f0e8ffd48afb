/**
 * Which server block gets the queries for a name, as far as the Corefile's words tell.
 * @module
 */
import type { ServerBlock } from '../corefile/server-block.ts'
import type { ZoneKey } from '../corefile/zone-key.ts'
import { isSubdomain } from '../dns/name.ts'
import type { DefaultPorts } from './listener.ts'

/** Where a query comes in, and what could get it. */
export type ServingPlace = {
  /** A key of `block`, whose transport and port count. */
  readonly key: ZoneKey
  /** The block whose addresses count. */
  readonly block: ServerBlock
  readonly blocks: readonly ServerBlock[]
  readonly ports: DefaultPorts
}

/**
 * Finds the block with the longest zone above a name where another block listens. Blocks that do
 * not take every query (`view`) may or may not get it: then nothing is certain, and nothing found.
 */
export function servingBlock(
  name: Uint8Array,
  { key, block, blocks, ports }: ServingPlace,
): ServerBlock | undefined {
  const place = placeOf(key, block, ports)
  const candidates = blocks.flatMap((one) =>
    one.keys
      .filter((other) => placeOf(other, one, ports) === place && isSubdomain(name, other.zone))
      .map((other) => ({ block: one, zone: other.zone })),
  )
  const longest = Math.max(0, ...candidates.map(({ zone }) => zone.length))
  const [found, second] = candidates.filter(({ zone }) => zone.length === longest)
  const isCertain =
    second === undefined && found?.block.directives.every(({ name: n }) => n !== 'view')
  return isCertain ? found?.block : undefined
}

/** Addresses that a block binds to; none for all. */
export function boundAddresses({ directives }: ServerBlock): string[] {
  return directives.flatMap(({ name, args }) =>
    name === 'bind' ? args.map(({ text }) => text) : [],
  )
}

function placeOf({ transport, port }: ZoneKey, block: ServerBlock, ports: DefaultPorts): string {
  return [transport, port ?? ports[transport], ...boundAddresses(block)].join(' ')
}
