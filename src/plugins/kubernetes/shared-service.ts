/**
 * A Service that several clusters have together, as each of them has it, and whose word counts
 * where they differ (KEP-1645 "Conflict resolution"). There it is the oldest ServiceExport's;
 * snapshots do not tell ages, so here it is:
 *
 * - an address of its own (type ClusterSetIP) before endpoints (type Headless), and
 * - of several such addresses the one of the cluster that the directive names first;
 * - endpoints are those of all, each with its own ports.
 * @module
 */
import { readUint16 } from '../../bytes/bytes.ts'
import { TYPE } from '../../dns/rr-type.ts'
import { FORM, TARGET_BYTES } from '../../snapshot/format/layout.ts'
import type { Shard } from '../../snapshot/read/shard.ts'

/** How a Service is reached, as far as its records show it. */
export type ServiceShape = {
  readonly type: 'ClusterSetIP' | 'Headless'
  /** Numbers of its ports, rising; of endpoints they are those of the endpoints. */
  readonly ports: readonly number[]
}

/** What clusters contradict each other in. */
export type Conflict = 'type' | 'ports'

/** Bytes of SRV data before the port (RFC 2782). */
const PORT_OFFSET = 4

/**
 * Reads the Service at a node of a tree of ServiceImports or exported Services; `undefined` when
 * there is none. One with an address of its own is the target of its own ports; one with ports and
 * no records will have an address.
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

/** Of members in the order of the directive, those whose names count. */
export function winnersOf<T extends { readonly shape: ServiceShape | undefined }>(
  members: readonly T[],
): readonly T[] {
  const own = members.filter(({ shape }) => shape?.type === 'ClusterSetIP')
  // One that has its address yet to get counts where no other has one.
  const first = own.find(({ shape }) => shape !== undefined && !isPending(shape)) ?? own[0]
  return first === undefined ? members : [first]
}

/** What clusters contradict each other in, the type first; `undefined` when they agree. */
export function conflictAmong(shapes: readonly (ServiceShape | undefined)[]): Conflict | undefined {
  const [first, ...others] = shapes.filter((shape) => shape !== undefined)
  if (first === undefined) return undefined
  if (others.some(({ type }) => type !== first.type)) return 'type'
  const ports = [first, ...others]
    .filter((shape) => !isPending(shape))
    .map((one) => one.ports.join())
  return new Set(ports).size > 1 ? 'ports' : undefined
}

/** Whether a Service has no address yet, and so no ports. */
function isPending({ type, ports }: ServiceShape): boolean {
  return type === 'ClusterSetIP' && ports.length === 0
}
