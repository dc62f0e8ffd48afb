/**
 * Clients of fronts that choose their own address.
 * @module
 */
import { execFile } from 'node:child_process'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import { formatReply, parseQuestion } from '../../message-text.ts'
import { buildInModule } from '../../real-cluster/binaries.ts'

const run = promisify(execFile)
const DNSCRYPT = '2.4.0'
const TIMEOUT_MS = 30_000
/** Prints the answer and the client over HTTP/3. */
const HTTP3 = `
import dns.message, dns.query, sys
port, source, name, authority = sys.argv[1:]
query = dns.message.make_query(name, 'A')
print(dns.query.https(query, f'https://localhost:{port}/dns-query', source=source, timeout=10,
    bootstrap_address='127.0.0.1', verify=authority, http_version=dns.query.HTTPVersion.H3))
`

/** Who asks whom. */
export type Asking = {
  readonly port: number
  /** The client's address. */
  readonly from: string
  readonly name: string
  /** Path of the authority's certificate. */
  readonly authority: string
  /** Another path than that of a query for the name. */
  readonly path?: string
}

/** Runs a program. @returns its output */
export async function output(command: string, args: readonly string[]): Promise<string> {
  return (await run(command, args, { timeout: TIMEOUT_MS })).stdout
}

/** Asks by kdig. @param way `+https`, `+tls` or `+tcp`; `+notcp` for UDP */
export function kdig({ port, from, name, authority }: Asking, way: string): Promise<string> {
  const trust = [`+tls-ca=${authority}`, '+tls-hostname=localhost']
  const tls = way === '+https' || way === '+tls' ? trust : []
  return output('kdig', ['@127.0.0.1', '-p', String(port), '-b', from, way, ...tls, name, 'A'])
}

/** Asks over HTTP/2 with headers. @returns the response as text, or the status */
export async function curl(asking: Asking, headers: readonly string[] = []): Promise<string> {
  const { stdout } = await run('curl', [...argumentsOf(asking), ...flagsOf(headers)], {
    encoding: 'buffer',
    timeout: TIMEOUT_MS,
  })
  return formatReply(stdout).join('\n')
}

/** Sends the same request several times. @returns how often each status came */
export async function statuses(
  asking: Asking,
  count: number,
): Promise<Readonly<Record<string, number>>> {
  const each = argumentsOf(asking, `&i=[1-${count}]`)
  const text = await output('curl', [...each, '-o', '/dev/null', '-w', '%{http_code} '])
  const counts: Record<string, number> = {}
  for (const status of text.trim().split(' ')) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

/** Asks, and returns the headers of the response, in lower case, after its status. */
export async function headersOf(asking: Asking, headers: readonly string[] = []): Promise<string> {
  const args = [...argumentsOf(asking), ...flagsOf(headers), '-o', '/dev/null', '-D', '-']
  return (await output('curl', args)).toLowerCase()
}

/** Asks over HTTP/3. @param python one with dnspython and aioquic */
export function http3({ port, from, name, authority }: Asking, python: string): Promise<string> {
  return output(python, ['-c', HTTP3, String(port), from, name, authority])
}

/** Asks by DNSCrypt. @param provider name and public key */
export function dnscrypt(
  { port, from, name }: Asking,
  provider: { readonly name: string; readonly key: Uint8Array },
): Promise<string> {
  return output(prepareDnscrypt(), [stampOf(`127.0.0.1:${port}`, provider), from, name])
}

/** Builds or finds the client of DNSCrypt. @returns its path */
export function prepareDnscrypt(): string {
  return buildInModule({
    name: 'dnscrypt',
    version: DNSCRYPT,
    args: ['build', '.'],
    prepare: (folder) => {
      copyFileSync(join(import.meta.dirname, 'dnscrypt.go'), join(folder, 'main.go'))
      const module = 'module kubedoh.test/dnscrypt\ngo 1.24.0\n'
      return `${module}require github.com/ameshkov/dnscrypt/v2 v${DNSCRYPT}\n`
    },
  })
}

function argumentsOf({ port, from, name, authority, path }: Asking, more = ''): string[] {
  const dns = encodeBase64url(parseQuestion(`${name} A`).message)
  const at = ['--resolve', `localhost:${port}:127.0.0.1`, '--interface', from]
  const url = `https://localhost:${port}${path ?? `/dns-query?dns=${dns}${more}`}`
  return ['-sS', '--http2', '--cacert', authority, ...at, url]
}

function flagsOf(headers: readonly string[]): string[] {
  return headers.flatMap((header) => ['-H', header])
}

/** Returns a stamp of DNSCrypt: protocol 1, properties, then fields after their length. */
function stampOf(
  address: string,
  provider: { readonly name: string; readonly key: Uint8Array },
): string {
  const fields = [Buffer.from(address), Buffer.from(provider.key), Buffer.from(provider.name)]
  const parts = fields.flatMap((field) => [Buffer.from([field.length]), field])
  return `sdns://${encodeBase64url(Buffer.concat([Buffer.from([1]), Buffer.alloc(8), ...parts]))}`
}
