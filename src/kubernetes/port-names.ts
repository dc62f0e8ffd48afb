/**
 * `_port._protocol.<service>`: one name for each named port, leading to the backends that have it
 * (DNS specification 1.1.0 §2.3.2, §2.4.2).
 * @module
 */
import type { RecordSet } from '../records/zone-entry.ts'
import { type Backend, backendRecords, type Place, type RecordsOf } from './backend-records.ts'
import { isLabel, joinLabels, labelOf } from './labels.ts'
import type { Port } from './objects.ts'

/**
 * Makes the names of the ports below the Service at `place`. Ports without a name, or with one that
 * is no label, get none.
 */
export function portNames(
  place: Place,
  backends: readonly Backend[],
  recordsOf: RecordsOf = backendRecords,
): RecordSet[] {
  const byPort = new Map<string, Backend[]>()
  const keys = new Map<Port, string>()
  for (const backend of backends) {
    if (backend.port === undefined) continue
    const key = keys.get(backend.port) ?? portKey(backend.port)
    keys.set(backend.port, key)
    if (key === '') continue
    const known = byPort.get(key)
    if (known === undefined) byPort.set(key, [backend])
    else known.push(backend)
  }
  return [...byPort].flatMap(([key, some]) => {
    const owner = ownerOf(key, place.owner)
    return owner === undefined ? [] : recordsOf({ ...place, owner }, some)
  })
}

/** The name of a port below a Service; `undefined` for one without a name that is a label. */
export function portOwner(port: Port, service: Uint8Array): Uint8Array | undefined {
  const key = portKey(port)
  return key === '' ? undefined : ownerOf(key, service)
}

function ownerOf(key: string, service: Uint8Array): Uint8Array | undefined {
  const [port = '', protocol = ''] = key.split('.')
  // A name of 63 characters leaves no room for its underscore, which may be left out anyway.
  const label = labelOf(port) ?? labelOf(port.slice(1))
  return joinLabels(label, labelOf(protocol), service)
}

/** How a port and its protocol are spelled; '' for a port without a name that is a label. */
function portKey({ name, protocol }: Port): string {
  return !isLabel(name) ? '' : `_${name}._${protocol}`.toLowerCase()
}
