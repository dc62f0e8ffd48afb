/**
 * The `dnstap` plugin: sends queries and responses to collectors in dnstap's format.
 * @module
 */

import {
  argTexts,
  checkArgs,
  flag,
  type Option,
  type OptionReaders,
  parseCount,
  readOptions,
} from '../../../corefile/arguments.ts'
import { configError } from '../../../corefile/problem.ts'
import type { Directive, Word } from '../../../corefile/server-block.ts'
import { EMPTY } from '../../../dns/bytes/bytes.ts'
import { PROGRAM, VERSION } from '../../../dns/telemetry/version.ts'
import type { Host } from '../../contract/host.ts'
import type { Observation, UpstreamExchange } from '../../contract/observation.ts'
import type { Plugin } from '../../contract/plugin.ts'
import type { PluginEntry } from '../../contract/plugin-entry.ts'
import { compileFormat } from '../log/setup.ts'
import { hasMetadata, metadataOf } from '../metadata/metadata.ts'
import { TAP, type TapMessage, writeTap } from './tap-message.ts'

const encoder = new TextEncoder()

/** Configures `dnstap SOCKET [full] [BUFFER] [QUEUE] { … }`, once for each collector. */
export const dnstapPlugin: PluginEntry<DnstapHost> = {
  name: 'dnstap',
  gateways: {
    at: 'worker',
    is: 'ignored',
    because: 'no connection lasts between its requests; bind ANALYTICS',
  },
  setup: (directives, { host, peers }) => ({
    plugins: directives.map((directive) => createPlugin(directive, host, peers)),
  }),
}

function createPlugin(
  directive: Directive,
  host: DnstapHost,
  peers: () => readonly Plugin[],
): Plugin {
  const { target, queueMax, isFull, identity, version, extra } = parseDnstap(directive)
  const { openTap, now } = host
  const source = {
    identity: encoder.encode(identity ?? host.hostname),
    version: encoder.encode(version ?? `${PROGRAM}-${VERSION}`),
  }
  const format = extra === '' ? undefined : compileFormat(extra)
  const fromPlugins = metadataOf(peers)
  let tap: Tap | undefined
  const send = (observation: Observation, messages: readonly TapMessage[]): void => {
    const metadata = (label: string): string | undefined =>
      hasMetadata(peers()) ? fromPlugins(label, observation) : undefined
    const text = format?.({ observation, metadata })
    const all = { ...source, extra: text === undefined ? EMPTY : encoder.encode(text) }
    for (const message of messages) tap?.send(writeTap(all, message))
  }
  return {
    name: 'dnstap',
    start: () => {
      tap = openTap(target, queueMax)
    },
    stop: () => tap?.close(),
    observe: (observation) => {
      send(observation, clientMessages(observation, now(), isFull))
    },
    observeUpstream: (exchange) => {
      const { query, client, trace } = exchange.clientQuery
      const none = { reply: EMPTY, replyBytes: 0, plugin: '', durationMs: 0 }
      const clientQuery = trace === undefined ? { query, client } : { query, client, trace }
      send({ ...clientQuery, ...none }, upstreamMessages(exchange, now(), isFull))
    },
  }
}

/** Returns the messages for a client's query and our response, if any. */
function clientMessages(
  { query, client, reply, replyBytes, durationMs }: Observation,
  nowMs: number,
  isFull: boolean,
): TapMessage[] {
  const { address, port, transport } = client
  const isUdp = transport === 'udp'
  const known = { from: { address, port }, isUdp, queryMs: nowMs - durationMs }
  const clientQuery = { ...known, type: TAP.CLIENT_QUERY, ...(isFull && { query: query.bytes }) }
  if (replyBytes === 0) return [clientQuery]
  const response = reply.subarray(0, replyBytes)
  const answered = { ...known, type: TAP.CLIENT_RESPONSE, responseMs: nowMs }
  return [clientQuery, isFull ? { ...answered, response } : answered]
}

/** Returns the messages for our query and an upstream's response, if any. */
function upstreamMessages(
  { address, port, isUdp, query, reply, startMs }: UpstreamExchange,
  nowMs: number,
  isFull: boolean,
): TapMessage[] {
  const known = { to: { address, port }, isUdp, queryMs: startMs }
  const clientQuery = { ...known, type: TAP.FORWARDER_QUERY, ...(isFull && { query }) }
  if (reply === undefined) return [clientQuery]
  const answered = { ...known, type: TAP.FORWARDER_RESPONSE, responseMs: nowMs }
  return [clientQuery, isFull ? { ...answered, response: reply } : answered]
}

type DnstapOptions = {
  readonly target: TapTarget
  /** Messages that may wait. */
  readonly queueMax: number
  /** Whether messages include the bytes of queries and responses. */
  readonly isFull: boolean
  /** `undefined` for this machine's hostname, or this program and its version. */
  readonly identity: string | undefined
  readonly version: string | undefined
  /** A format string of `log`; '' for none. */
  readonly extra: string
}

/** Messages in a queue, times the directive's QUEUE. */
const QUEUE_MESSAGES = 10_000
const QUEUES_MAX = 4096
const BUFFERS_MAX = 1024
const LABEL_CHARACTERS_MAX = 255

type Draft = Pick<DnstapOptions, 'identity' | 'version' | 'extra'> & { isVerified: boolean }

const READERS: OptionReaders<Draft> = {
  identity: (option) => ({ identity: parseLabel(option) }),
  version: (option) => ({ version: parseLabel(option) }),
  extra: (option) => ({ extra: argTexts(option, 1)[0] ?? '' }),
  skipverify: (option) => ({ isVerified: !flag(option) }),
}

/** Reads a directive. @throws {ConfigError} */
export function parseDnstap(directive: Directive): DnstapOptions {
  const [socket, full, buffers, queues] = checkArgs(directive, 4)
  if (socket === undefined) {
    throw configError(
      directive,
      '"dnstap" needs a socket, such as /tmp/dnstap.sock or tcp://HOST:PORT',
    )
  }
  if (socket.text === 'listen') {
    throw configError(socket, '"dnstap listen" is not supported: have the collector listen')
  }
  if (full !== undefined && full.text !== 'full') {
    throw configError(full, `"dnstap" does not take "${full.text}": write "full" or leave it out`)
  }
  // Ignored: the system sizes socket buffers.
  if (buffers !== undefined) parseCount(buffers, 1, BUFFERS_MAX)
  const count = queues === undefined ? 1 : parseCount(queues, 1, QUEUES_MAX)
  const draft: Draft = { identity: undefined, version: undefined, extra: '', isVerified: true }
  readOptions(directive, READERS, draft)
  const { isVerified, ...rest } = draft
  const target = parseTarget(socket, isVerified)
  return { target, queueMax: count * QUEUE_MESSAGES, isFull: full !== undefined, ...rest }
}

function parseLabel(option: Option): string {
  const [text = ''] = argTexts(option, 1)
  if (text.length <= LABEL_CHARACTERS_MAX) return text
  throw configError(option, `"${option.name}" is over ${LABEL_CHARACTERS_MAX} characters`)
}

function parseTarget(word: Word, isVerified: boolean): TapTarget {
  const [, scheme] = /^(tcp|tls):\/\//.exec(word.text) ?? []
  if (scheme === undefined) return { kind: 'unix', path: word.text.replace(/^unix:\/\//, '') }
  const url = URL.parse(word.text)
  const port = Number(url?.port)
  const host = url?.hostname.replace(/^\[(.*)\]$/, '$1') ?? ''
  if (host === '' || port === 0)
    throw configError(word, `"${word.text}" is not ${scheme}://HOST:PORT`)
  return scheme === 'tcp' ? { kind: 'tcp', host, port } : { kind: 'tls', host, port, isVerified }
}

/** The address of a collector of dnstap messages. */
export type TapTarget =
  | { readonly kind: 'unix'; readonly path: string }
  | { readonly kind: 'tcp'; readonly host: string; readonly port: number }
  | {
      readonly kind: 'tls'
      readonly host: string
      readonly port: number
      /** Whether its certificate must be for the host. */
      readonly isVerified: boolean
    }

/** A connection to a collector. */
export type Tap = {
  /** Queues a message; never throws, never waits. */
  readonly send: (message: Uint8Array) => void
  /** Sends the queued messages and closes. */
  readonly close: () => void
}

/** A host that sends to collectors. */
export type DnstapHost = Host & {
  /** Connects to a collector; at most `queueMax` messages wait. */
  readonly openTap: (target: TapTarget, queueMax: number) => Tap
}
