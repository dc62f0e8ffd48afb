/**
 * Which name of a snapshot a name of `k8s_external` stands for (CoreDNS,
 * plugin/kubernetes/external.go):
 *
 * - `<service>.<ns>` and `<ns>` for themselves
 * - `<any>.<service>.<ns>` for the Service, when that has addresses outside; else for its endpoint
 * - `<port>.<protocol>.<service>.<ns>` for the port, with or without underscores
 * @module
 */
import { byteAt, concatBytes } from '../../bytes/bytes.ts'
import { labelOffsets } from '../../dns/name.ts'
import { type FoundName, findName } from '../../snapshot/read/find-name.ts'
import type { Snapshot } from '../../snapshot/read/snapshot.ts'

const UNDERSCORE = 0x5f
/** The label `*`, which a snapshot has below Services with addresses outside. */
const WILDCARD = Uint8Array.of(1, 0x2a)
const LABEL_BYTES_MAX = 63

/**
 * Finds what a name below a zone stands for.
 * @param relative labels in lower case, without the root; one at least
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

/** A label without the underscore that it may begin with. */
function plain(label: Uint8Array): Uint8Array {
  const isUnderscored = label.length > 2 && byteAt(label, 1) === UNDERSCORE
  return isUnderscored ? concatBytes(Uint8Array.of(label.length - 2), label.subarray(2)) : label
}

/** A label with an underscore before it, where there is room for one. */
function underscored(label: Uint8Array): Uint8Array {
  const size = label.length - 1
  if (byteAt(label, 1) === UNDERSCORE || size >= LABEL_BYTES_MAX) return label
  return concatBytes(Uint8Array.of(size + 1, UNDERSCORE), label.subarray(1))
}
