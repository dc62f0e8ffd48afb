/**
 * The `tls` plugin: the certificate of `tls://` and `https://` server blocks, and the client
 * certificates that they require (github.com/coredns/coredns, plugin/tls/tls.go).
 * @module
 */

import {
  type OptionReaders,
  onlyDirective,
  onlyWord,
  parseChoice,
  readOptions,
} from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive } from '../../../corefile/server-block.ts'
import type { ClientAuth, TlsService } from '../../contract/feature.ts'
import type { Host } from '../../contract/host.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import { readNamedFile } from '../../plugin-kit/tls-files.ts'

const CLIENT_AUTHS: readonly ClientAuth[] = [
  'nocert',
  'request',
  'require',
  'verify_if_given',
  'require_and_verify',
]

/** Configures `tls CERT KEY [CA] { client_auth … }`. */
export const tlsPlugin: PluginEntry = {
  name: 'tls',
  counts: 'last',
  gateways: {
    at: 'gateway',
    is: 'ignored',
    because: `"kubedoh gateway" has "--tls-cert", and Cloudflare the certificate of a Worker`,
  },
  isApart: true,
  setup: (directives, { host, pathOf }) => {
    const directive = onlyDirective(directives)
    const reread = (): TlsService => parseTls(directive, (path) => host.readText(pathOf(path)))
    const service = reread()
    try {
      host.checkIdentity(service)
    } catch (error) {
      if (!(error instanceof Error)) throw error
      throw configError(directive, error.message)
    }
    return { features: [{ kind: 'tls', service, reread }] }
  },
}

function parseTls(directive: Directive, readText: Host['readText']): TlsService {
  const { args } = directive
  if (args.length < 2 || args.length > 3) throw configError(directive, wrongFiles(args.length))
  const { clientAuth } = readOptions(directive, READERS, { clientAuth: 'nocert' })
  const [cert = '', key = '', ca] = args.map((word) => readNamedFile(word, readText))
  return { cert, key, clientAuth, ...(ca !== undefined && { ca }) }
}

function wrongFiles(count: number): string {
  return count === 0
    ? '"tls" obtains no certificates by itself (ACME); write "tls CERT KEY"'
    : `"tls" takes the files CERT, KEY and optionally CA, got ${count} argument(s)`
}

const READERS: OptionReaders<{ clientAuth: ClientAuth }> = {
  client_auth: (option) => ({ clientAuth: parseChoice(onlyWord(option), CLIENT_AUTHS) }),
  keylog: '"keylog" is not supported: it would expose TLS session keys',
}
