/**
 * The tree with the labels of namespaces, for tokens that select by labels; it answers no queries.
 * Its names are those of the namespaces; each label is a TXT record with `key=value`, in strings of
 * at most 255 bytes (RFC 1035 §3.3.14).
 * @module
 */

import { TYPE } from '../../dns/names/rr-type.ts'
import { characterStrings } from '../../dns/rdata/character-string.ts'
import type { Rdata, RRset } from '../../snapshot/records/zone-entry.ts'
import { labelOf } from '../objects/labels.ts'
import { describeObject, type Namespace } from '../objects/objects.ts'

/** Most labels of a namespace that are published, the first ones by key. */
export const NAMESPACE_LABELS_MAX = 64
/** Most bytes of all labels; a namespace whose labels exceed the rest gets none. */
export const NAMESPACE_LABEL_BYTES_MAX: number = 1024 * 1024

/** Labels of namespaces, and a warning for each namespace that lacks some. */
export type LabelRecords = {
  readonly entries: readonly RRset[]
  readonly warnings: readonly string[]
}

/** Returns the entries of namespaces, sorted by name. */
export function labelRecords(namespaces: Iterable<Namespace>): LabelRecords {
  const entries: RRset[] = []
  const warnings: string[] = []
  let room = NAMESPACE_LABEL_BYTES_MAX
  const sorted = [...namespaces].sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const namespace of sorted) {
    const owner = labelOf(namespace.name)
    if (owner === undefined || namespace.labels.size === 0) continue
    const texts = [...namespace.labels].map(([key, value]) => `${key}=${value}`).sort()
    const rdata = texts.slice(0, NAMESPACE_LABELS_MAX).map(textRdata)
    const bytes = rdata.reduce((sum, one) => sum + one.bytes.length, 0)
    if (texts.length > NAMESPACE_LABELS_MAX || bytes > room) {
      const what =
        bytes > room ? 'its labels find' : `more than ${NAMESPACE_LABELS_MAX} labels find`
      warnings.push(`${describeObject(namespace)}: ${what} no room in what tokens go by`)
    }
    if (bytes > room) continue
    room -= bytes
    entries.push({ kind: 'records', owner, namespace: '', type: TYPE.TXT, ttlSeconds: 0, rdata })
  }
  return { entries, warnings }
}

function textRdata(text: string): Rdata {
  return { bytes: characterStrings(new TextEncoder().encode(text)) }
}
