/**
 * The ways to a scenario's answers: the resolver itself, real sockets, and the app for DNS over
 * HTTPS. The gateway in workerd is in `worker-transport.ts`.
 * @module
 */
import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { PassThrough } from 'node:stream'
import { readUint16 } from '../../src/dns/bytes/bytes.ts'
import { TYPE } from '../../src/dns/names/rr-type.ts'
import { Metrics } from '../../src/dns/telemetry/metrics.ts'
import { parseResponse } from '../../src/dns/wire/message.ts'
import { parseQuery } from '../../src/dns/wire/query.ts'
import { createDohApp } from '../../src/gateway/doh/app.ts'
import { WIRE_TYPE } from '../../src/gateway/doh/negotiate.ts'
import { createResolver } from '../../src/resolver/chain/create-resolver.ts'
import { findChain, type Listener } from '../../src/resolver/chain/listener.ts'
import type { Resolver } from '../../src/resolver/chain/resolver.ts'
import type { Client } from '../../src/resolver/contract/client.ts'
import type { Host } from '../../src/resolver/contract/host.ts'
import { KeySources } from '../../src/server/etcd/key-sources.ts'
import { loadCorefile } from '../../src/server/node/load-corefile.ts'
import { ClusterSources } from '../../src/server/serve/cluster-sources.ts'
import { createNodeHost } from '../../src/server/serve/node-host.ts'
import { Server } from '../../src/server/serve/server.ts'
import { freePort } from '../free-port.ts'
import { ResolverClient } from '../resolver-client.ts'
import { TcpClient } from '../server/clients.ts'
import type { Case, Scenario, ScenarioFiles } from './scenario.ts'

/** A way to answers. */
export type Transport = {
  /**
   * Sends a message as the case says, and resolves with the reply: none when none comes, many
   * messages of a transfer.
   */
  readonly ask: (recorded: Case, message: Uint8Array) => Promise<readonly Uint8Array[]>
  readonly close: () => Promise<void>
}

/** Where a scenario's files are, and the scenario. */
export type Place = ScenarioFiles & { readonly scenario: Scenario }

/** How long to wait for an answer that should come, and for one that should not. */
const ANSWER_MS = 5000
const SILENCE_MS = 300

/**
 * Answers from the resolver itself: on the slow path, and on the fast path where that is possible;
 * then both must give the same bytes. A quarter of the authoritative answers of chains with a fast
 * path must take it, apart from queries that a plugin of the chain has to see itself.
 */
export async function openBothWays(place: Place): Promise<Transport> {
  const resolver = await createScenarioResolver(place, { random16: () => 4711 })
  let fastCount = 0
  let candidateCount = 0
  return {
    ask: async (recorded, message) => {
      const [listener] = resolver.listeners
      if (listener === undefined) return []
      const ahead: Uint8Array[] = []
      const client = clientOf(recorded, ahead)
      const asking = new ResolverClient(resolver, client, listener)
      const { fast, slow: reply } = await asking.bothWays(message)
      if (recorded.expect.aa && hasQuickWay(listener, message, client)) candidateCount++
      const messages = reply === undefined ? ahead : [...ahead, reply]
      if (fast === undefined) return messages
      fastCount++
      assert.deepEqual([fast], messages)
      return messages
    },
    close: () => {
      resolver.stop()
      assert.ok(fastCount >= candidateCount / 4, `${fastCount} of ${candidateCount} were fast`)
      return Promise.resolve()
    },
  }
}

function hasQuickWay(listener: Listener, message: Uint8Array, client: Client): boolean {
  const query = parseQuery(message)
  const chain = query.kind === 'query' ? findChain(listener, query, client) : undefined
  if (query.kind === 'refusal' || chain?.fastPath === undefined) return false
  return !chain.fastPath.needsSlowPath(query, client)
}

/** Answers over HTTPS as the app does, without a socket. */
export async function openDohApp(place: Place): Promise<Transport> {
  const resolver = await createScenarioResolver(place)
  const app = createDohApp({
    isPrivate: () => false,
    answer: (message, c) => {
      const [listener] = resolver.listeners
      const client: Client = { ...c.env, transport: 'https' }
      return listener && new ResolverClient(resolver, client, listener).answer(message)
    },
  })
  return {
    ask: (recorded, message) => askByPost(app, message, clientOf(recorded, [])),
    close: () => {
      resolver.stop()
      return Promise.resolve()
    },
  }
}

/** Answers over UDP and TCP sockets, as each case was recorded. */
export async function openSockets({ scenario, ...place }: Place): Promise<Transport> {
  const sink = new PassThrough().resume()
  useFreePort(place.corefile, await freePort())
  const server = new Server(
    {
      conf: place.corefile,
      dnsPort: 0,
      objects: place.objects,
      files: place.files,
      kubeconfig: '',
      etcd: place.etcd,
      dohListen: '',
      insecure: false,
      localAddresses: scenario.localAddresses.join(','),
    },
    { stdout: sink, stderr: sink },
  )
  await server.start()
  const [port = 0] = server.ports
  return {
    ask: (recorded, message) =>
      recorded.transport === 'tcp'
        ? askTcp(recorded, port, message)
        : askUdp(recorded, port, message),
    close: () => server.stop(),
  }
}

/**
 * Moves the HTTP servers of a Corefile from the ports of the recording, which may be in use
 * here.
 */
function useFreePort(corefile: string, port: number): void {
  const text = readFileSync(corefile, 'utf8')
  const moved = text.replaceAll(
    /^(\s*(?:health|ready|prometheus))\b[^{\n]*/gm,
    `$1 127.0.0.1:${port} `,
  )
  writeFileSync(corefile, moved)
}

/**
 * The same where `node:ffi` is absent: node:dgram reads and sends each datagram. Where it is absent
 * anyway, this is what `openSockets` does.
 */
export async function openPlainSockets(place: Place): Promise<Transport> {
  const { KUBEDOH_UDP_BATCHES: before = '' } = process.env
  process.env.KUBEDOH_UDP_BATCHES = '0'
  try {
    return await openSockets(place)
  } finally {
    process.env.KUBEDOH_UDP_BATCHES = before
  }
}

/** Compiles a scenario's Corefile to a resolver over its objects. */
export async function createScenarioResolver(
  { scenario, corefile, objects, etcd, files }: Place,
  overrides: Partial<Host> = {},
): Promise<Resolver> {
  const sources = new ClusterSources({
    objectPaths: objects,
    kubeconfig: '',
    folder: dirname(corefile),
    localAddresses: scenario.localAddresses,
    loadApi: () => Promise.reject(new TypeError('scenarios have no API server')),
    log: () => undefined,
    metrics: new Metrics(),
    now: Date.now,
    elapsed: () => performance.now(),
  })
  const keys = new KeySources({ file: etcd, log: () => undefined })
  const host = createNodeHost({
    folder: files,
    metrics: new Metrics(),
    log: () => undefined,
    openCluster: (directive, tree) => sources.open(directive, tree),
    openKeys: (connection) => keys.open(connection),
    abort: () => undefined,
  })
  const resolver = createResolver(loadCorefile(corefile).blocks, { ...host, ...overrides })
  await resolver.prepare()
  return resolver
}

/** @param ahead gets what is sent ahead of a reply's last message, which needs a connection */
function clientOf(
  { src = '127.0.0.1', src_port: port = 40_000, transport }: Case,
  ahead: Uint8Array[],
): Client {
  const client = { address: src, port, transport }
  if (transport === 'udp') return client
  const sendAhead = (message: Uint8Array): Promise<void> => {
    ahead.push(message)
    return Promise.resolve()
  }
  return { ...client, sendAhead }
}

/**
 * Posts a message to `/dns-query`. Resolves with the response; none for a status other than
 * 200.
 */
async function askByPost(
  app: ReturnType<typeof createDohApp>,
  message: Uint8Array,
  client: Client,
): Promise<readonly Uint8Array[]> {
  const headers = { 'content-type': WIRE_TYPE, accept: WIRE_TYPE }
  const init = { method: 'POST', headers, body: new Uint8Array(message) }
  const response = await app.request('/dns-query', init, client)
  return response.status === 200 ? [new Uint8Array(await response.arrayBuffer())] : []
}

function askUdp(
  { src, src_port: srcPort, expect }: Case,
  port: number,
  message: Uint8Array,
): Promise<readonly Uint8Array[]> {
  const isIPv6 = src?.includes(':') === true
  const socket = createSocket(isIPv6 ? 'udp6' : 'udp4')
  return new Promise<readonly Uint8Array[]>((resolve, reject) => {
    const timer = setTimeout(() => resolve([]), expect.drop ? SILENCE_MS : ANSWER_MS)
    socket.on('error', reject)
    socket.on('message', (reply) => {
      if (message.length >= 2 && readUint16(reply, 0) !== readUint16(message, 0)) return
      clearTimeout(timer)
      resolve([new Uint8Array(reply)])
    })
    if (src !== undefined) socket.bind(srcPort ?? 0, src)
    socket.send(message, port, isIPv6 ? '::1' : '127.0.0.1')
  }).finally(() => socket.close())
}

async function askTcp(
  { src, qtype }: Case,
  port: number,
  message: Uint8Array,
): Promise<readonly Uint8Array[]> {
  const address = src?.includes(':') === true ? '::1' : '127.0.0.1'
  const client = await TcpClient.open(port, address, src)
  try {
    const framed = new Uint8Array(2 + message.length)
    new DataView(framed.buffer).setUint16(0, message.length)
    framed.set(message, 2)
    await client.send(framed)
    let messages = await client.messages(1)
    while (/^[AI]XFR$/.test(qtype) && !isWholeTransfer(messages)) {
      messages = await client.messages(messages.length + 1)
    }
    return messages
  } finally {
    client.destroy()
  }
}

/**
 * A transfer ends with the SOA record that it begins with (RFC 5936 §2.2); one that is refused, or
 * that has no other record, is one message (RFC 1995 §2).
 */
function isWholeTransfer(messages: readonly Uint8Array[]): boolean {
  const answers = messages.flatMap((message) => parseResponse(message)?.answer ?? [])
  return answers.length <= 1 || answers.filter(({ type }) => type === TYPE.SOA).length > 1
}
