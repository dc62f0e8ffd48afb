/**
 * `kubedoh query`: asks one question and prints the answer as zone-file text.
 * @module
 */
import { getServers } from 'node:dns'
import { styleText } from 'node:util'
import { parseAddress, reverseName } from '../dns/address.ts'
import { readUint16 } from '../dns/bytes.ts'
import { OPTION } from '../dns/edns.ts'
import { UDP_BYTES_ADVERTISED } from '../dns/limits.ts'
import { parseResponse, type ResourceRecord, type Response } from '../dns/message.ts'
import { parseName } from '../dns/name.ts'
import { formatRcode, RCODE } from '../dns/rcode.ts'
import { parseType } from '../dns/rr-type.ts'
import { writeQuery } from '../dns/write-query.ts'
import { askDoh } from '../doh/doh-client.ts'
import { formatJsonReply } from '../doh/json-reply.ts'
import { formatRecord } from '../records/zone-text.ts'
import { exchange } from '../shim/exchange.ts'
import { random16 } from '../shim/random16.ts'
import { LOOPBACK } from './doh-listener.ts'
import type { Input } from './flags.ts'
import { CommandError, type Output } from './output.ts'

const TIMEOUT_MS = 5000

type Ask = (message: Uint8Array) => Promise<Uint8Array>

/** Asks and prints. An address in place of a name asks where it points back to. */
export async function runQuery(input: Input, output: Output): Promise<void> {
  const server = input.text('server') === '' ? systemServer() : input.text('server')
  const ask = askerOf(server, input.text('token'))
  const question = readQuestion(input.args)
  const message = writeQuery({ ...question, id: random16(), udpBytes: UDP_BYTES_ADVERTISED })
  const startMs = performance.now()
  const reply = await ask(message).catch((error: unknown) => {
    throw new CommandError(`${server} does not answer: ${reason(error)}`, { cause: error })
  })
  const tookMs = performance.now() - startMs
  const response = parseResponse(reply)
  if (response === undefined) throw new CommandError(`${server} answers with something else`)
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

function systemServer(): string {
  const [first = '127.0.0.1'] = getServers()
  return `udp://${parseAddress(first)?.length === 16 ? `[${first}]` : first}`
}

function askerOf(server: string, token: string): Ask {
  const url = URL.canParse(server) ? new URL(server) : undefined
  switch (url?.protocol) {
    case 'udp:':
      return async (message) => {
        const reply = await askPlain(url, 'udp', message)
        const isTruncated = (readUint16(reply, 2) & 0x0200) !== 0
        return isTruncated ? askPlain(url, 'tcp', message) : reply
      }
    case 'tcp:':
      return (message) => askPlain(url, 'tcp', message)
    case 'https:':
    case 'http:':
      checkSecret(url, token)
      return (message) => askHttps(url, token, message)
    default:
      throw new CommandError(
        `--server "${server}" is not udp://HOST, tcp://HOST or https://HOST/dns-query`,
      )
  }
}

/** A token goes over the network in secret or not at all. */
function checkSecret({ protocol, hostname }: URL, token: string): void {
  if (token === '' || protocol === 'https:' || LOOPBACK.has(hostname)) return
  throw new CommandError(`A token is not sent to ${hostname} over plain http://; use https://`)
}

function askPlain(url: URL, protocol: 'udp' | 'tcp', message: Uint8Array): Promise<Uint8Array> {
  const address = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? 53 : Number(url.port)
  return exchange({ transport: 'dns', address, port }, message, { protocol, timeoutMs: TIMEOUT_MS })
}

function askHttps(url: URL, token: string, message: Uint8Array): Promise<Uint8Array> {
  const target = new URL(url)
  if (target.pathname === '/') target.pathname = '/dns-query'
  return askDoh(target.href, message, {
    signal: AbortSignal.timeout(TIMEOUT_MS),
    fetch: (to, init) => {
      const headers = new Headers(init.headers)
      if (token !== '') headers.set('authorization', `Bearer ${token}`)
      return fetch(to, { ...init, headers })
    },
  })
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
  if (data.length < 2) return 'without a code'
  return `${readUint16(data, 0)} ${new TextDecoder().decode(data.subarray(2))}`.trimEnd()
}

/** The reason below "fetch failed". */
function reason(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? reason(error.cause) : error.message
}
