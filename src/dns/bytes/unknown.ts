/**
 * Values of unknown type: parsed JSON, and thrown values.
 * @module
 */

/** Returns whether a value is an object with fields: not `null`, not an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns a value's fields; an empty record for other values than objects. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}

/** Returns a list; an empty one for other values. */
export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

/** Returns a text; '' for other values. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Returns the code of a system error, such as ENOENT; "unknown error" for any other value. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
}

/** Returns the reason of a failed call of `node:fs` in words, or its code. */
export function fileReason(error: unknown): string {
  const code = errorCode(error)
  return FILE_REASONS.get(code) ?? code
}

const FILE_REASONS: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'no such file or folder'],
  ['ENOTDIR', 'a part of the path is not a folder'],
  ['EEXIST', 'a file has this name'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['EPERM', 'permission denied'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'no space is left on the device'],
])

/** Returns the message of an error, or the text of anything else that was thrown. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** A message of `node:fs`, `ENOENT: no such file or directory, open 'PATH'`, or of OpenSSL. */
const WRAPPED = /^E[A-Z]+: (.+), [a-z]+(?: '.*')?$|^\w+:error:\w+:[^:]*:[^:]*:([^:]+):.*$/s

/** Returns the cause of an error in words, because "fetch failed" does not say what to do. */
export function causeText(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error instanceof AggregateError && error.message === '') return causeText(error.errors[0])
  if (error.cause instanceof Error) return causeText(error.cause)
  const text = error.message.replace(WRAPPED, '$1$2')
  return text === 'wrong version number' ? 'no TLS is spoken there' : text
}

/** Parses JSON; `undefined` for other text. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Returns whether a value is a list of strings. */
export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string')
}
