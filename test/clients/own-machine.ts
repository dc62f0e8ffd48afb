/**
 * What a program of an onboarding kit has of a machine: an /etc of its own, with the machine's
 * resolver, and the gateway as it is shipped.
 * @module
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findMissing } from './programs.ts'
import type { TlsGateways } from './tls-gateway.ts'

/** The zone of the gateway in `wrangler.toml`. */
export const DOMAIN = 'prod.k8s.example.org'
/** The Service of a page, whose only address is this machine's. */
export const NAME: string = `page.shop.svc.${DOMAIN}`
/** A name that only the machine's own resolver knows. */
export const PUBLIC = 'public.example.net'
/** Why machines cannot be made here. */
export const NEEDS_ROOT: string | undefined =
  process.getuid?.() === 0 ? undefined : 'needs root, for port 53 and mounts'

const UPSTREAM = 'https://cloudflare-dns.com/dns-query'
/** The machine's resolver listens here, because resolv.conf has no ports. */
const RESOLVER = `127.53.${process.pid % 250}.53`
const RESOLVER_COREFILE = `.:53 {
  bind ${RESOLVER}
  log
  template IN A ${PUBLIC} www.gstatic.com {
    answer "{{.Name}} 60 IN A 127.0.0.1"
  }
  template IN NS example.com {
    answer "{{.Name}} 60 IN NS a.iana-servers.net."
  }
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`
/** Copies /etc, so that one program gets policies and a resolver of its own, and no other. */
const IN_OWN_ETC = `set -e; etc=$1; shift; cp -a /etc/. "$etc.copy"; cp -a "$etc/." "$etc.copy"
mount --bind "$etc.copy" /etc; exec "$@"`
const IN_NAMESPACES = ['-m', '-p', '-f', '--kill-child', '--mount-proc', 'sh', '-c', IN_OWN_ETC]

/**
 * Starts the machine's resolver, and a gateway with a cluster. Returns the gateway's origin.
 * @param variables of the gateway, besides those as it is shipped
 */
export async function startShipped(
  gateways: TlsGateways,
  variables: Readonly<Record<string, string>> = {},
): Promise<string> {
  writeFileSync(gateways.file('Resolver'), RESOLVER_COREFILE)
  await gateways.run(['serve', '--conf', gateways.file('Resolver')]).line(/^ready/)
  return `https://localhost:${await gateways.start('prod', shippedCorefile(), [], variables)}`
}

/** Returns the arguments of unshare for a command whose /etc has some files more. */
export function inOwnEtc(
  folder: string,
  files: Readonly<Record<string, string>>,
  command: readonly string[],
): readonly string[] {
  const all = { ...files, 'resolv.conf': `nameserver ${RESOLVER}\n` }
  for (const [path, text] of Object.entries(all)) {
    mkdirSync(join(folder, path, '..'), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return [...IN_NAMESPACES, 'sh', folder, ...command]
}

/** Returns why a browser cannot have an /etc of its own here, or undefined if it can. */
export function browserMissing(program: string): string | undefined {
  return findMissing(program) ?? findMissing('certutil') ?? findMissing('unshare')
}

/** The Corefile of wrangler.toml, its probes forwarded to the machine's resolver. */
function shippedCorefile(): string {
  const deployment = readFileSync(join(import.meta.dirname, '../../wrangler.toml'), 'utf8')
  const [, corefile = ''] = /^COREFILE = """\n([\s\S]*?)"""/m.exec(deployment) ?? []
  const [before = '', after] = corefile.split(UPSTREAM)
  if (after === undefined) throw new Error(`wrangler.toml does not forward to ${UPSTREAM}`)
  return `${before}${RESOLVER}${after}`
}
