/**
 * The labels of namespaces, for whoever decides by them what a client may see: a tree of its own,
 * which no query is answered from. Its names are those of the namespaces; each label is a TXT
 * record with `key=value`, in strings of 255 bytes at most (RFC 1035 §3.3.14).
 * @module
 */
import { concatBytes } from '../../bytes/bytes.ts'
import { TYPE } from '../../dns/rr-type.ts'
import type { Rdata, RRset } from '../../records/zone-entry.ts'
import { labelOf } from '../objects/labels.ts'
import { describeObject, type Namespace } from '../objects/objects.ts'

/** Labels of one namespace that are made known, the first ones by their keys. */
export const LABELS_MAX = 64
/** Bytes of all labels; a namespace that finds no room for all of its own has none. */
export const LABEL_BYTES_MAX: number = 1024 * 1024
const STRING_BYTES_MAX = 255

/** Labels of namespaces, and those namespaces that lack some, one line each. */
export type LabelRecords = {
  readonly entries: readonly RRset[]
  readonly warnings: readonly string[]
}

/** Makes the entries of namespaces, in the order of their names. */
export function labelRecords(namespaces: Iterable<Namespace>): LabelRecords {
  const entries: RRset[] = []
  const warnings: string[] = []
  let room = LABEL_BYTES_MAX
  const sorted = [...namespaces].sort((a, b) => (a.name < b.name ? -1 : 1))
  for (const namespace of sorted) {
    const owner = labelOf(namespace.name)
    if (owner === undefined || namespace.labels.size === 0) continue
    const texts = [...namespace.labels].map(([key, value]) => `${key}=${value}`).sort()
    const rdata = texts.slice(0, LABELS_MAX).map(textRdata)
    const bytes = rdata.reduce((sum, one) => sum + one.bytes.length, 0)
    if (texts.length > LABELS_MAX || bytes > room) {
      const what = bytes > room ? 'its labels find' : `more than ${LABELS_MAX} labels find`
      warnings.push(`${describeObject(namespace)}: ${what} no room in what tokens go by`)
    }
    if (bytes > room) continue
    room -= bytes
    entries.push({ kind: 'records', owner, namespace: '', type: TYPE.TXT, ttlSeconds: 0, rdata })
  }
  return { entries, warnings }
}

function textRdata(text: string): Rdata {
  const octets = new TextEncoder().encode(text)
  const strings: Uint8Array[] = []
  for (let at = 0; at < octets.length; at += STRING_BYTES_MAX) {
    const part = octets.subarray(at, at + STRING_BYTES_MAX)
    strings.push(Uint8Array.of(part.length, ...part))
  }
  return { bytes: concatBytes(...strings) }
}
