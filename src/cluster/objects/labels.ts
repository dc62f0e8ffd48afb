/**
 * DNS labels from names and addresses of objects.
 * @module
 */
import { byteAt, concatBytes, EMPTY, LOWER } from '../../dns/bytes/bytes.ts'
import { LABEL_BYTES_MAX } from '../../dns/names/limits.ts'

/** The lower case of each character that a label may have; 0 for others. */
const HOST_CHARACTERS = Uint8Array.from({ length: 128 }, (_, code) =>
  /[A-Za-z0-9_-]/.test(String.fromCharCode(code)) ? byteAt(LOWER, code) : 0,
)

/** The same, with dashes for dots and colons. */
const DASHED_CHARACTERS = HOST_CHARACTERS.map((lower, code) =>
  code === 0x2e || code === 0x3a ? 0x2d : lower,
)

/**
 * Returns one lower-case label in wire format, followed by the labels `below`. `undefined` if
 * `text` is not a label: empty, over 63 bytes, or with characters other than letters, digits, `-`
 * and `_`.
 */
export function labelOf(text: string, below: Uint8Array = EMPTY): Uint8Array | undefined {
  return labelBy(HOST_CHARACTERS, text, below)
}

/** Returns what `labelOf` does, with dashes for the dots and colons of an address or hostname. */
export function dashedLabelOf(address: string, below: Uint8Array = EMPTY): Uint8Array | undefined {
  return labelBy(DASHED_CHARACTERS, address, below)
}

/** Returns whether a text is a valid label. */
export function isLabel(text: string): boolean {
  const size = text.length
  if (size === 0 || size > LABEL_BYTES_MAX) return false
  for (let i = 0; i < size; i++) {
    const code = text.charCodeAt(i)
    if (code >= HOST_CHARACTERS.length || byteAt(HOST_CHARACTERS, code) === 0) return false
  }
  return true
}

function labelBy(characters: Uint8Array, text: string, below: Uint8Array): Uint8Array | undefined {
  const size = text.length
  if (size === 0 || size > LABEL_BYTES_MAX) return undefined
  const name = new Uint8Array(size + 1 + below.length)
  name[0] = size
  for (let i = 0; i < size; i++) {
    const code = text.charCodeAt(i)
    const lower = code < characters.length ? byteAt(characters, code) : 0
    if (lower === 0) return undefined
    name[i + 1] = lower
  }
  for (let i = 0; i < below.length; i++) name[size + 1 + i] = byteAt(below, i)
  return name
}

/** Joins labels, leftmost first, to a relative name; `undefined` if one of them is `undefined`. */
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
/** Returns the relative name of a Service; `undefined` if it is not a valid name. */
export function serviceOwner(service: {
  readonly namespace: string
  readonly name: string
}): Uint8Array | undefined {
  const namespace = labelOf(service.namespace, SVC)
  return namespace && labelOf(service.name, namespace)
}

/** The label `endpoints`, below which OpenShift 3 puts the endpoints of Services. */
export const ENDPOINTS: Uint8Array = Uint8Array.of(9, ...new TextEncoder().encode('endpoints'))
/** The wildcard label `*` (RFC 4592 §2.1.1). */
export const WILDCARD: Uint8Array = Uint8Array.of(1, 0x2a)
/** The label `pod`, below which Pods are. */
export const POD: Uint8Array = Uint8Array.of(3, 0x70, 0x6f, 0x64)
