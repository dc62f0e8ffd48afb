/**
 * `_port._protocol.<service>`: one name for each named port, for the backends that have it (DNS
 * specification 1.1.0 §2.3.2, §2.4.2).
 * @module
 */
import type { RRset } from '../../snapshot/records/zone-entry.ts'
import { isLabel, labelOf } from '../objects/labels.ts'
import type { Port } from '../objects/objects.ts'
import { type Backend, backendRecords, type Place, type RecordsOf } from './backend-records.ts'

/**
 * Returns the names of the ports below the Service at `place`. Skips ports without a name, or with
 * a name that is not a label.
 */
export function portNames(
  place: Place,
  backends: readonly Backend[],
  recordsOf: RecordsOf = backendRecords,
): RRset[] {
  const names: RRset[] = []
  for (const [key, some] of byName(backends)) {
    const owner = ownerOf(key, place.owner)
    if (owner === undefined) continue
    for (const records of recordsOf({ ...place, owner }, some)) names.push(records)
  }
  return names
}

/** Groups backends by their port name and protocol. */
function byName(backends: readonly Backend[]): ReadonlyMap<string, readonly Backend[]> {
  const byKey = new Map<string, Backend[]>()
  const byPort = new Map<Port, Backend[]>()
  let last: Port | undefined
  let some: Backend[] = []
  for (const backend of backends) {
    const { port } = backend
    if (port === undefined) continue
    if (port !== last) {
      some = byPort.get(port) ?? groupOf(byKey, portKey(port))
      byPort.set(port, some)
      last = port
    }
    some.push(backend)
  }
  byKey.delete('')
  return byKey
}

function groupOf(groups: Map<string, Backend[]>, key: string): Backend[] {
  const group = groups.get(key) ?? []
  groups.set(key, group)
  return group
}

/**
 * Returns the DNS name of a port below a Service; `undefined` if the port's name is not a label.
 */
export function portOwner(port: Port, service: Uint8Array): Uint8Array | undefined {
  const key = portKey(port)
  return key === '' ? undefined : ownerOf(key, service)
}

function ownerOf(key: string, service: Uint8Array): Uint8Array | undefined {
  const [port = '', protocol = ''] = key.split('.')
  // A port name of 63 characters has no room for the underscore, which is optional in queries.
  const below = labelOf(protocol, service)
  return below && (labelOf(port, below) ?? labelOf(port.slice(1), below))
}

/** Returns the key of a port and its protocol; '' if the port's name is not a label. */
function portKey({ name, protocol }: Port): string {
  return !isLabel(name) ? '' : `_${name}._${protocol}`.toLowerCase()
}
