/**
 * The `tls` option of plugins that connect to servers (CoreDNS, plugin/pkg/tls): files with the
 * client's certificate and key, and with trusted certificate authorities.
 * @module
 */

import { argTexts, type Option } from '../../corefile/arguments.ts'
import { configError } from '../../corefile/problem.ts'
import type { Word } from '../../corefile/server-block.ts'
import type { Host, TlsIdentity } from '../contract/host.ts'

/** Reads the file that a word names. @throws {ConfigError} when it is unreadable */
export function readNamedFile(word: Word, readText: Host['readText']): string {
  const text = readText(word.text)
  if (text === undefined) throw configError(word, `cannot read "${word.text}"`)
  return text
}

/**
 * Reads `tls`, `tls CA`, `tls CERT KEY` or `tls CERT KEY CA`, and the files.
 * @throws {ConfigError} when a file is unreadable
 */
export function tlsIdentity(option: Option, readText: Host['readText']): TlsIdentity {
  argTexts(option, 0, 3)
  const [first, key, ca] = option.args.map((word) => readNamedFile(word, readText))
  if (first === undefined) return {}
  if (key === undefined) return { ca: first }
  return ca === undefined ? { cert: first, key } : { cert: first, key, ca }
}
