/**
 * One field of a header list: a name with a value, as HPACK's tables keep them (RFC 7541 §1.3).
 * @module
 */

/** What each field counts beside its bytes (RFC 7541 §4.1). */
const FIELD_OVERHEAD_BYTES = 32

/** A token in lower case (RFC 9113 §8.2.1, RFC 9110 §5.6.2), or a pseudo-header field's name. */
const NAME = /^:?[!#$%&'*+.^_`|~0-9a-z-]+$/
/** What no value has (RFC 9113 §8.2.1). */
const BREAK = /[\0\r\n]/
/** Fields of one connection, which HTTP/2 has other means for (RFC 9113 §8.2.2). */
const CONNECTION_SPECIFIC: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
])

/** A field. Whether it is good is found out once, however often a table is asked for it. */
export class HeaderField {
  readonly name: string
  readonly value: string
  /** Bytes that it counts (RFC 7541 §4.1). */
  readonly size: number
  /** Whether it may be in a request: else the whole request is malformed (RFC 9113 §8.2). */
  readonly isValid: boolean
  readonly isPseudo: boolean

  /**
   * @param name one character for each byte, as is `value`
   * @param knownName whether the name is from a field that was looked at before
   */
  constructor(name: string, value: string, knownName?: HeaderField) {
    this.name = name
    this.value = value
    this.size = name.length + value.length + FIELD_OVERHEAD_BYTES
    this.isPseudo = name.charCodeAt(0) === 0x3a
    const isName = knownName?.hasValidName ?? isValidName(name)
    this.hasValidName = isName
    this.isValid = isName && isValidValue(value) && (name !== 'te' || value === 'trailers')
  }

  private readonly hasValidName: boolean
}

function isValidName(name: string): boolean {
  return NAME.test(name) && !CONNECTION_SPECIFIC.has(name)
}

/** Neither breaks of lines nor NUL, nor blanks at either end (RFC 9113 §8.2.1). */
function isValidValue(value: string): boolean {
  const isBare = !isBlank(value.charCodeAt(0)) && !isBlank(value.charCodeAt(value.length - 1))
  return isBare && !BREAK.test(value)
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}
