/**
 * The `dnstap` plugin: sends queries and responses to collectors in dnstap's format.
 * @module
 */

import { EMPTY } from '../../bytes/bytes.ts'
import type { Observation, UpstreamExchange } from '../../chain/observation.ts'
import type { Plugin } from '../../chain/plugin.ts'
import type { PluginEntry } from '../../chain/plugin-entry.ts'
import type { Directive } from '../../corefile/server-block.ts'
import { PROGRAM, VERSION } from '../../telemetry/version.ts'
import { compileFormat } from '../log/setup.ts'
import { hasMetadata, metadataOf } from '../metadata/metadata.ts'
import { type DnstapHost, parseDnstap, type Tap } from './options.ts'
import { TAP, type TapMessage, writeTap } from './tap-message.ts'

const encoder = new TextEncoder()

/** Configures `dnstap SOCKET [full] [BUFFER] [QUEUE] { … }`, once for each collector. */
export const dnstapPlugin: PluginEntry<DnstapHost> = {
  name: 'dnstap',
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
