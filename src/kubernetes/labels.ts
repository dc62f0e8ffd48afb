/**
 * Labels of names that are made from objects.
 * @module
 */
import { concatBytes, LOWER, octet } from '../dns/bytes.ts'
import { LABEL_BYTES_MAX } from '../dns/limits.ts'

/** In lower case, each character that a label may have; 0 for the others. */
const HOST_CHARACTERS = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9_-]/.test(String.fromCharCode(code)) ? octet(LOWER, code) : 0,
)

/** The same, where dots and colons become dashes. */
const DASHED_CHARACTERS = HOST_CHARACTERS.map((lower, code) =>
  code === 0x2e || code === 0x3a ? 0x2d : lower,
)

/**
 * Makes one wire label, length octet first, in lower case. `undefined` when `text` cannot be a
 * label of its own: empty, over 63 octets, or with characters other than letters, digits, `-` and
 * `_`.
 */
export function labelOf(text: string): Uint8Array | undefined {
  return labelBy(HOST_CHARACTERS, text)
}

/** As `labelOf`, for an address or a host name: its dots and colons become dashes. */
export function dashedLabelOf(address: string): Uint8Array | undefined {
  return labelBy(DASHED_CHARACTERS, address)
}

function labelBy(characters: Uint8Array, text: string): Uint8Array | undefined {
  const size = text.length
  if (size === 0 || size > LABEL_BYTES_MAX) return undefined
  const label = new Uint8Array(size + 1)
  label[0] = size
  for (let i = 0; i < size; i++) {
    const code = text.charCodeAt(i)
    const lower = code < characters.length ? octet(characters, code) : 0
    if (lower === 0) return undefined
    label[i + 1] = lower
  }
  return label
}

/** Joins labels, leftmost first, to a relative name; `undefined` when one of them is. */
export function joinLabels(...labels: readonly (Uint8Array | undefined)[]): Uint8Array | undefined {
  const whole: Uint8Array[] = []
  for (const label of labels) {
    if (label === undefined) return undefined
    whole.push(label)
  }
  return concatBytes(...whole)
}

/** The label `svc`, below which Services are. */
export const SVC: Uint8Array = Uint8Array.of(3, 0x73, 0x76, 0x63)
/** The label `endpoints`, below which OpenShift 3 has the endpoints of Services. */
export const ENDPOINTS: Uint8Array = Uint8Array.of(9, ...new TextEncoder().encode('endpoints'))
/** The label `*`, which stands for names that are not there (RFC 4592 §2.1.1). */
export const WILDCARD: Uint8Array = Uint8Array.of(1, 0x2a)
/** The label `pod`, below which Pods are. */
export const POD: Uint8Array = Uint8Array.of(3, 0x70, 0x6f, 0x64)
