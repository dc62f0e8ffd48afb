/**
 * `kubedoh query`: sends one query and prints the response in zone-file format.
 * @module
 */
import { getServers } from 'node:dns'
import { styleText } from 'node:util'
import { readUint16 } from '../../dns/bytes/bytes.ts'
import { parseAddress, reverseName } from '../../dns/names/address.ts'
import { UDP_BYTES_ADVERTISED } from '../../dns/names/limits.ts'
import { parseName } from '../../dns/names/name.ts'
import { formatRcode, RCODE } from '../../dns/names/rcode.ts'
import { parseType } from '../../dns/names/rr-type.ts'
import { OPTION, readExtendedError } from '../../dns/wire/edns.ts'
import { parseResponse, type ResourceRecord, type Response } from '../../dns/wire/message.ts'
import { FLAG } from '../../dns/wire/query.ts'
import { writeQuery } from '../../dns/wire/write-query.ts'
import { askDoh } from '../../gateway/doh/doh-client.ts'
import { formatJsonReply } from '../../gateway/doh/json-reply.ts'
import { LOOPBACK } from '../../server/http/doh-listener.ts'
import { random16 } from '../../server/keys/random16.ts'
import { CommandError, type Output } from '../../server/node/output.ts'
import { exchange } from '../../server/upstream/exchange.ts'
import { formatRecord } from '../../snapshot/records/zone-text.ts'
import { nextAfter401 } from '../credentials/gateway-login.ts'
import { connectReason, readAuthorities } from '../flags/authorities.ts'
import type { Input } from '../flags/flags.ts'
import { trimToken } from '../flags/operator-call.ts'
import { askWithToken, isRefusal } from './client-token.ts'
import { timeExchange } from './exchange-time.ts'

const TIMEOUT_MS = 5000
const SCHEME = /^\w+:\/\//

type Ask = (message: Uint8Array) => Promise<Uint8Array>

/** A server to query; its label has no token in it. */
type Server = { readonly label: string; readonly ask: Ask }

/** Sends the query and prints the response. An address as NAME queries its PTR record. */
export async function runQuery(input: Input, output: Output): Promise<void> {
  const { label: server, ask } = serverOf(input)
  const question = readQuestion(input.args)
  const message = writeQuery({ ...question, id: random16(), udpBytes: UDP_BYTES_ADVERTISED })
  const { result: reply, tookMs } = await timeExchange(() => ask(message)).catch(
    async (error: unknown) => {
      if (error instanceof CommandError) throw error
      const next = isRefusal(error)
        ? `; ${await nextAfter401(new URL(server).origin, 'pass a valid token, --token TOKEN')}`
        : ''
      throw new CommandError(`Cannot query ${server}: ${connectReason(error)}${next}`, {
        cause: error,
      })
    },
  )
  const response = parseResponse(reply)
  if (response === undefined) throw new CommandError(`${server} sent an invalid DNS message`)
  if (input.isSet('json')) output.stdout.write(formatJsonReply(reply))
  else output.stdout.write(formatAnswer(response, { server, tookMs, output }))
}

function readQuestion([nameText = '', typeText]: readonly string[]): {
  readonly name: Uint8Array
  readonly type: number
} {
  const address = parseAddress(nameText)
  const type = parseType(typeText ?? (address === undefined ? 'A' : 'PTR'))
  if (type === undefined) throw new CommandError(`"${typeText}" is not a record type such as SRV`)
  const name = address === undefined ? parseName(nameText) : reverseName(address)
  if (name === undefined) throw new CommandError(`"${nameText}" is not a domain name`)
  return { name, type }
}

function serverOf(input: Input): Server {
  const [system = '127.0.0.1'] = getServers()
  const text = input.text('server') || system
  const url = parseServer(text)
  const label = url === undefined || SCHEME.test(text) ? withoutToken(text) : url.href
  const ca = input.text('ca')
  switch (url?.protocol) {
    case 'udp:':
    case 'tcp:':
      return { label, ask: (message) => askPlain(url, message) }
    case 'tls:':
      return { label, ask: (message) => askTls(url, message, ca) }
    case 'https:':
    case 'http:':
      return { label, ask: askerOverHttps(input, url) }
    default:
      throw new CommandError(
        `--server "${label}" is not HOST:PORT, udp://HOST, tcp://HOST, tls://HOST or ` +
          'https://HOST/dns-query',
      )
  }
}

/** Parses `HOST`, `HOST:PORT` or `[ADDRESS]:PORT` of plain DNS. @throws {CommandError} */
export function parsePlainServer(text: string): {
  readonly address: string
  readonly port: number
} {
  const url = parseServer(text)
  if (url?.protocol === 'udp:' || url?.protocol === 'tcp:') return placeOf(url, 53)
  throw new CommandError(`--server "${withoutToken(text)}" is not HOST or HOST:PORT`)
}

/** Returns a server's text without the token in it. */
function withoutToken(text: string): string {
  return text.replace(/\/\/[^/]*@/, '//').replace(/\/t\/[^/]+/, '/t/TOKEN')
}

/** Parses a URL; `HOST`, `HOST:PORT`, `[ADDRESS]:PORT` and an address mean UDP. */
function parseServer(text: string): URL | undefined {
  const plain = parseAddress(text)?.length === 16 ? `udp://[${text}]` : `udp://${text}`
  const url = SCHEME.test(text) ? text : plain
  return URL.canParse(url) && new URL(url).hostname !== '' ? new URL(url) : undefined
}

async function askPlain(url: URL, message: Uint8Array): Promise<Uint8Array> {
  const upstream = { transport: 'dns', ...placeOf(url, 53) } as const
  const tcp = { protocol: 'tcp', timeoutMs: TIMEOUT_MS } as const
  if (url.protocol === 'tcp:') return exchange(upstream, message, tcp)
  const reply = await exchange(upstream, message, { ...tcp, protocol: 'udp' })
  const isTruncated = (readUint16(reply, 2) & FLAG.TC) !== 0
  return isTruncated ? exchange(upstream, message, tcp) : reply
}

function askTls(url: URL, message: Uint8Array, caFile: string): Promise<Uint8Array> {
  const upstream = { transport: 'tls', ...placeOf(url, 853) } as const
  const tls = caFile === '' ? {} : { ca: readAuthorities(caFile) }
  return exchange(upstream, message, { protocol: 'tcp', timeoutMs: TIMEOUT_MS, tls })
}

function placeOf(url: URL, standard: number): { readonly address: string; readonly port: number } {
  const address = url.hostname.replace(/^\[|\]$/g, '')
  return { address, port: url.port === '' ? standard : Number(url.port) }
}

/**
 * Sends the token in a header: the one that is given, also as the URL's password, as curl takes it,
 * or that of the login there.
 */
function askerOverHttps(input: Input, url: URL): Ask {
  const target = new URL(url)
  target.username = ''
  target.password = ''
  if (target.pathname === '/') target.pathname = '/dns-query'
  const inUrl = input.text('token') === '' ? decodeURIComponent(url.password) : ''
  const ask = (message: Uint8Array, token: string): Promise<Uint8Array> => {
    checkSecret(target, token)
    return askDoh(target.href, message, {
      signal: AbortSignal.timeout(TIMEOUT_MS),
      fetch: (to, init) => fetch(to, init),
      token: token === '' ? undefined : token,
    })
  }
  return (message) =>
    inUrl !== '' || target.pathname.startsWith('/t/')
      ? ask(message, trimToken(input.text('token') || inUrl, '--token'))
      : askWithToken(input, target.href, (token) => ask(message, token))
}

/** Rejects a token for a server on another machine without TLS. */
function checkSecret({ protocol, hostname, pathname }: URL, token: string): void {
  const hasToken = token !== '' || pathname.startsWith('/t/')
  if (!hasToken || protocol === 'https:' || LOOPBACK.has(hostname)) return
  throw new CommandError(`Cannot send a token to ${hostname} over plain http://; use https://`)
}

function formatAnswer(
  response: Response,
  { server, tookMs, output }: { server: string; tookMs: number; output: Output },
): string {
  const { rcode, authoritative, truncated, authenticData, options } = response
  const isFine = rcode === RCODE.NOERROR
  const flags = [
    ...(authoritative ? ['authoritative'] : []),
    ...(truncated ? ['truncated'] : []),
    ...(authenticData ? ['authenticated'] : []),
  ]
  const head = styleText(isFine ? 'green' : 'yellow', formatRcode(rcode), { stream: output.stdout })
  const errors = options.filter(({ code }) => code === OPTION.EXTENDED_ERROR)
  const lines = [
    `; ${[head, ...flags].join(', ')}; ${tookMs.toFixed(1)} ms from ${server}`,
    ...errors.map(({ data }) => `; extended error ${describeError(data)}`),
    ...section('answer', response.answer),
    ...section('authority', response.authority),
    ...section('additional', response.additional),
  ]
  return `${lines.join('\n')}\n`
}

function section(name: string, records: readonly ResourceRecord[]): string[] {
  return records.length === 0 ? [] : [`; ${name}`, ...records.map(formatRecord)]
}

function describeError(data: Uint8Array): string {
  const error = readExtendedError(data)
  if (error === undefined) return 'without a code'
  const { code, name, text } = error
  return `${code}${name === '' ? '' : ` (${name})`}${text === '' ? '' : `: ${text}`}`
}
