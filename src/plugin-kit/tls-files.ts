/**
 * The `tls` option of plugins that connect to servers (CoreDNS, plugin/pkg/tls): files with the
 * client's certificate and key, and with trusted certificate authorities.
 * @module
 */

import type { Host, TlsIdentity } from '../chain/host.ts'
import { argTexts, type Option } from '../corefile/arguments.ts'
import { configError } from '../corefile/problem.ts'

/**
 * Reads `tls`, `tls CA`, `tls CERT KEY` or `tls CERT KEY CA`, and the files.
 * @throws {ConfigError} when a file is unreadable
 */
export function tlsIdentity(option: Option, readText: Host['readText']): TlsIdentity {
  argTexts(option, 0, 3)
  const texts = option.args.map((word) => {
    const text = readText(word.text)
    if (text === undefined) throw configError(word, `cannot read "${word.text}"`)
    return text
  })
  const [first, key, ca] = texts
  if (first === undefined) return {}
  if (key === undefined) return { ca: first }
  return ca === undefined ? { cert: first, key } : { cert: first, key, ca }
}
