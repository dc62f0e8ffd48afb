/**
 * Queries of the JSON API, as Google's and Cloudflare's services define it; it has no RFC.
 * @module
 */
import { parseAddress } from '../../dns/names/address.ts'
import { parseName } from '../../dns/names/name.ts'
import { parseType, TYPE } from '../../dns/names/rr-type.ts'
import { FLAG } from '../../dns/wire/query.ts'
import { writeQuery } from '../../dns/wire/write-query.ts'
import { HttpError } from './http-error.ts'
import { type Form, mediaType, WIRE_TYPE } from './negotiate.ts'

/** UDP size in the EDNS record of the query; has no effect over HTTP. */
const UDP_BYTES = 4096

/** The query in the parameters. */
export type JsonQuery = {
  readonly message: Uint8Array
  /** The form that `ct` requests; `undefined` without it. */
  readonly form: Form | undefined
}

/**
 * Reads `name`, `type`, `cd`, `do`, `ct` and `edns_client_subnet`. The first of repeated parameters
 * counts; unknown ones are ignored. The client's subnet is validated and not used (RFC 7871 §11.1).
 * @throws {HttpError} 400 that names the parameter
 */
export function parseJsonQuery(parameters: URLSearchParams): JsonQuery {
  const nameText = parameters.get('name')
  if (nameText === null || nameText === '') throw badParameter('name', 'is missing')
  const name = parseName(nameText)
  if (name === undefined) {
    const hint = 'is not a domain name; write other scripts in their xn-- form'
    throw badParameter('name', hint)
  }
  checkSubnet(parameters.get('edns_client_subnet'))
  const flags = FLAG.RD | (readFlag(parameters, 'cd') ? FLAG.CD : 0)
  const message = writeQuery({
    name,
    type: readType(parameters.get('type')),
    flags,
    udpBytes: UDP_BYTES,
    wantsDnssec: readFlag(parameters, 'do'),
  })
  return { message, form: readForm(parameters.get('ct')) }
}

function readType(text: string | null): number {
  if (text === null || text === '') return TYPE.A
  const type = /^\d{1,5}$/.test(text) ? Number(text) : parseType(text)
  if (type === undefined || type < 1 || type > 65535) {
    throw badParameter('type', 'is neither a number from 1 to 65535 nor the name of a type')
  }
  return type
}

function readFlag(parameters: URLSearchParams, name: string): boolean {
  const text = parameters.get(name)
  if (text === null || text === '0' || text === 'false') return false
  if (text === '' || text === '1' || text === 'true') return true
  throw badParameter(name, 'is not one of 1, true, 0, false')
}

function readForm(text: string | null): Form | undefined {
  const type = mediaType(text ?? undefined)
  if (type === WIRE_TYPE) return 'wire'
  return type === 'application/dns-json' || type === 'application/x-javascript' ? 'json' : undefined
}

function checkSubnet(text: string | null): void {
  if (text === null || text === '') return
  const [, addressText = '', prefixText = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const address = parseAddress(addressText)
  if (address === undefined || Number(prefixText) > 8 * address.length) {
    throw badParameter('edns_client_subnet', 'is not an address with a prefix length')
  }
}

function badParameter(name: string, problem: string): HttpError {
  return new HttpError(400, 'bad_parameter', `Parameter "${name}" ${problem}`)
}
