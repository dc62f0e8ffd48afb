/**
 * A Service that several clusters share, and which cluster wins a conflict (KEP-1645 "Conflict
 * resolution"). KEP-1645 prefers the oldest ServiceExport; snapshots have no ages, so here:
 *
 * - a cluster-wide address (type ClusterSetIP) wins over endpoints (type Headless),
 * - of several such addresses, the cluster that the directive names first wins, and
 * - endpoints of all clusters are joined, each with its own ports.
 * @module
 */
import { readUint16 } from '../../../dns/bytes/bytes.ts'
import { TYPE } from '../../../dns/names/rr-type.ts'
import { FORM, TARGET_BYTES } from '../../../snapshot/format/layout.ts'
import type { Shard } from '../../../snapshot/read/shard.ts'

/** The shape of a Service as its records show it. */
export type ServiceShape = {
  readonly type: 'ClusterSetIP' | 'Headless'
  /** Its ports in rising order; for endpoints, the endpoints' ports. */
  readonly ports: readonly number[]
}

/** What clusters contradict each other about. */
export type Conflict = 'type' | 'ports'

/** Bytes of SRV data before the port (RFC 2782). */
const PORT_OFFSET = 4

/**
 * Reads the shape of the Service at a node; `undefined` without one. A Service with its own address
 * is the target of its own SRV records. A Service with ports and no records awaits its address.
 */
export function readShape(shard: Shard, node: number): ServiceShape | undefined {
  if (node === 0 || shard.isImplied(node) || shard.isGlue(node)) return undefined
  const ref = shard.findSet(node, TYPE.SRV)
  if (ref === 0)
    return { type: shard.setCount(node) === 0 ? 'ClusterSetIP' : 'Headless', ports: [] }
  const set = shard.refSet(ref)
  if (shard.setForm(set) !== FORM.TARGETS) return { type: 'Headless', ports: [] }
  const ports = new Set<number>()
  for (let i = 0; i < shard.refCount(ref); i++) {
    ports.add(readUint16(shard.bytes, set + 4 + TARGET_BYTES * i + PORT_OFFSET))
  }
  const type = shard.targetNode(set, 0) === node ? 'ClusterSetIP' : 'Headless'
  return { type, ports: [...ports].sort((a, b) => a - b) }
}

/** Returns the members, in the order of the directive, whose records answer. */
export function winnersOf<T extends { readonly shape: ServiceShape | undefined }>(
  members: readonly T[],
): readonly T[] {
  const own = members.filter(({ shape }) => shape?.type === 'ClusterSetIP')
  // A Service that awaits its address wins only if no other has one.
  const first = own.find(({ shape }) => shape !== undefined && !isPending(shape)) ?? own[0]
  return first === undefined ? members : [first]
}

/** Returns the first conflict, types before ports; `undefined` if the members agree. */
export function conflictAmong(shapes: readonly (ServiceShape | undefined)[]): Conflict | undefined {
  const [first, ...others] = shapes.filter((shape) => shape !== undefined)
  if (first === undefined) return undefined
  if (others.some(({ type }) => type !== first.type)) return 'type'
  const ports = [first, ...others]
    .filter((shape) => !isPending(shape))
    .map((one) => one.ports.join())
  return new Set(ports).size > 1 ? 'ports' : undefined
}

/** Whether a Service awaits its address and so has no ports. */
function isPending({ type, ports }: ServiceShape): boolean {
  return type === 'ClusterSetIP' && ports.length === 0
}
