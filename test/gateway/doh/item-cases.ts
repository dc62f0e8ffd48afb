/**
 * What a row of the table of items is, and how rows are written.
 * @module
 */
import { encodeBase64url } from '../../../src/dns/bytes/base64url.ts'
import { concatBytes } from '../../../src/dns/bytes/bytes.ts'
import { parseQuestion } from '../../message-text.ts'
import type { AppCase } from './app-cases.ts'
import type { Way, WayName, Which } from './item-gateways.ts'
import { type Ask, pathOf } from './replies.ts'

/** Where a row cannot be asked, and why. */
type Not = { readonly [name in WayName]?: string }

/** A request to the gateways and what comes back; what is not said is not looked at. */
export type RequestCase = AppCase & {
  /** Which gateway; the open one when left out. */
  readonly to?: Which
  /** The whole reply, as `formatReply` has it. */
  readonly lines?: readonly string[]
  /** Bytes of the body. */
  readonly bytes?: number
  /** Data of the first record in the JSON that comes back. */
  readonly data?: string
  readonly not?: Not
}

/** A rule across requests. */
export type RuleCase = {
  readonly name: string
  readonly check: (way: Way) => Promise<void>
  /** Whether it is about a function of ours, which no gateway is asked for. */
  readonly isOnce?: true
  readonly not?: Not
}

/** A topic of the protocols, with its cases. */
export type Item = {
  readonly topic: string
  readonly cases: readonly (RequestCase | RuleCase)[]
  /** What of it no test here can show, and why. */
  readonly untested?: string
}

/** The media type of messages. */
export const WIRE = 'application/dns-message'
/** The media type of the JSON form. */
export const JSON_FORM = 'application/dns-json'
/** Something that is there. */
export const WEB = 'web.shop.svc.shop.test'
/** Its answer. */
export const WEB_LINES: readonly string[] = ['web.shop.svc.shop.test. 30 IN A 10.96.0.80']
/** The same in JSON. */
export const WEB_JSON: Readonly<Record<string, unknown>> = {
  Answer: [{ name: 'web.shop.svc.shop.test.', type: 1, TTL: 30, data: '10.96.0.80' }],
}

/** A query from its words, with ID 0 unless they say another. */
export function messageOf(question: string): Uint8Array {
  return parseQuestion(`${question}${/ \+id=/.test(question) ? '' : ' +id=0'}`).message
}

/** Asks by GET. */
export function get(question: string, headers: Readonly<Record<string, string>> = {}): Ask {
  return { path: pathOf(messageOf(question)), headers }
}

/** Asks by POST. */
export function post(body: Uint8Array, headers: Readonly<Record<string, string>> = {}): Ask {
  return { method: 'POST', path: '/dns-query', body, headers: { 'content-type': WIRE, ...headers } }
}

/** Sends bytes by GET as they are. */
export function getByteRange(...parts: readonly Uint8Array[]): Ask {
  return { path: `/dns-query?dns=${encodeBase64url(concatBytes(...parts))}` }
}

/** Asks in the JSON form at its own path; parameters as they stand in a URL. */
export function resolve(parameters: string): Ask {
  return { path: `/resolve?${parameters}` }
}

/** The bearer's header. */
export function bearer(token: string): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token}` }
}

/** A message with one byte changed. */
export function withByte(message: Uint8Array, at: number, value: number): Uint8Array {
  return message.with(at, value)
}

/** Why a rule of HTTP/1.1 connections is not tried in workerd. */
export const EDGE =
  "connections between client and Cloudflare are the edge's, and workerd is behind it"
