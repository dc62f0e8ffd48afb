/**
 * The `tls` option of plugins that are clients of others (CoreDNS, plugin/pkg/tls): which files say
 * who we are and whom we believe.
 * @module
 */

import type { Host, TlsIdentity } from '../chain/host.ts'
import { argTexts, type Option } from '../corefile/arguments.ts'
import { configError } from '../corefile/problem.ts'

/**
 * Reads `tls`, `tls CA`, `tls CERT KEY` or `tls CERT KEY CA`, and the files.
 * @throws {ConfigError} when one cannot be read
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
