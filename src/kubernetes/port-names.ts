/**
 * `_port._protocol.<service>`: one name for each named port, leading to the backends that have it
 * (DNS specification 1.1.0 §2.3.2, §2.4.2).
 * @module
 */
import type { RecordSet } from '../records/zone-entry.ts'
import { type Backend, backendRecords, type Place } from './backend-records.ts'
import { joinLabels, labelOf } from './labels.ts'

/**
 * Makes the names of the ports below the Service at `place`. Ports without a name, or with one that
 * is no label, get none.
 */
export function portNames(place: Place, backends: readonly Backend[]): RecordSet[] {
  const byPort = new Map<string, Backend[]>()
  for (const backend of backends) {
    if (backend.port === undefined || labelOf(backend.port.name) === undefined) continue
    const key = `_${backend.port.name}._${backend.port.protocol}`.toLowerCase()
    const known = byPort.get(key)
    if (known === undefined) byPort.set(key, [backend])
    else known.push(backend)
  }
  return [...byPort].flatMap(([key, some]) => {
    const [port = '', protocol = ''] = key.split('.')
    // A name of 63 characters leaves no room for its underscore, which may be left out anyway.
    const label = labelOf(port) ?? labelOf(port.slice(1))
    const owner = joinLabels(label, labelOf(protocol), place.owner)
    return owner === undefined ? [] : backendRecords({ ...place, owner }, some)
  })
}
