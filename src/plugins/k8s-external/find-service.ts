/**
 * Maps a name of `k8s_external` to a name in the snapshot (CoreDNS, plugin/kubernetes/external.go):
 *
 * - `<service>.<ns>` and `<ns>` map to themselves
 * - `<any>.<service>.<ns>` maps to the Service if it has external addresses, else to its endpoint
 * - `<port>.<protocol>.<service>.<ns>` maps to the port, with or without underscores
 * @module
 */
import { byteAt, concatBytes } from '../../bytes/bytes.ts'
import { labelOffsets } from '../../dns/name.ts'
import { type FoundName, findName } from '../../snapshot/read/find-name.ts'
import type { Snapshot } from '../../snapshot/read/snapshot.ts'

const UNDERSCORE = 0x5f
/** The label `*`, which a snapshot has below Services with external addresses. */
const WILDCARD = Uint8Array.of(1, 0x2a)
const LABEL_BYTES_MAX = 63

/**
 * Finds the node for a name below a zone.
 * @param relative labels in lower case, without the root; at least one
 */
export function findService(snapshot: Snapshot, relative: Uint8Array): FoundName | undefined {
  const offsets = labelOffsets(relative)
  const [, second = 0, third = 0] = offsets
  switch (offsets.length) {
    case 1:
    case 2:
      return findName(snapshot, relative)
    case 3: {
      const service = relative.subarray(second)
      const hasAny = findName(snapshot, concatBytes(WILDCARD, service)) !== undefined
      if (hasAny) return findName(snapshot, service)
      return findName(snapshot, concatBytes(plain(relative.subarray(0, second)), service))
    }
    case 4: {
      const port = underscored(relative.subarray(0, second))
      const protocol = underscored(relative.subarray(second, third))
      return findName(snapshot, concatBytes(port, protocol, relative.subarray(third)))
    }
    default:
      return undefined
  }
}

/** Returns a label without its leading underscore. */
function plain(label: Uint8Array): Uint8Array {
  const isUnderscored = label.length > 2 && byteAt(label, 1) === UNDERSCORE
  return isUnderscored ? concatBytes(Uint8Array.of(label.length - 2), label.subarray(2)) : label
}

/** Returns a label with a leading underscore if that fits into 63 bytes. */
function underscored(label: Uint8Array): Uint8Array {
  const size = label.length - 1
  if (byteAt(label, 1) === UNDERSCORE || size >= LABEL_BYTES_MAX) return label
  return concatBytes(Uint8Array.of(size + 1, UNDERSCORE), label.subarray(1))
}
