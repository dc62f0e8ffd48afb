/**
 * A DNS server whose resolver answers each query with one address, now or later.
 * @module
 */

import { ROOT } from '../../src/dns/names/name.ts'
import { Metrics } from '../../src/dns/telemetry/metrics.ts'
import { EMPTY_REPLY, parseResponse } from '../../src/dns/wire/message.ts'
import type { Chain } from '../../src/resolver/chain/chain.ts'
import type { Listener } from '../../src/resolver/chain/listener.ts'
import { Resolver } from '../../src/resolver/chain/resolver.ts'
import type { Feature } from '../../src/resolver/contract/feature.ts'
import type { Outcome } from '../../src/resolver/contract/outcome.ts'
import type { Plugin } from '../../src/resolver/contract/plugin.ts'
import { DnsServer } from '../../src/server/serve/dns-server.ts'
import { createNodeHost } from '../../src/server/serve/node-host.ts'
import { formatRecord } from '../../src/snapshot/records/zone-text.ts'
import { record } from '../gateway/doh/replies.ts'
import { askUdp, queryWith } from './clients.ts'

/** Where the listeners listen. */
export const HERE: Partial<Listener> = { addresses: ['127.0.0.1'] }

/** Options of a test's resolver. */
export type Draft = {
  /** The address to answer with, now or later. */
  readonly says: string | Promise<string>
  readonly onQuery?: () => void
  readonly listeners?: readonly Partial<Listener>[]
  readonly features?: readonly Feature[]
  readonly plugin?: Partial<Plugin>
}

/** Returns a resolver of one plugin. */
export function resolverOf(draft: Draft): Resolver {
  const { says, onQuery, listeners = [HERE], features = [], plugin = {} } = draft
  const reply = (address: string): Outcome => ({
    ...EMPTY_REPLY,
    answer: [record(`a.example.org. 5 A ${address}`)],
  })
  const chain: Chain = {
    plugins: [{ name: 'test', ...plugin }],
    features,
    notices: [],
    fastPath: undefined,
    serve: () => {
      onQuery?.()
      return typeof says === 'string' ? reply(says) : says.then(reply)
    },
    observers: [],
    admits: undefined,
    takesAnyClass: false,
    explainsRefusals: false,
  }
  const zones = [{ zone: ROOT, chain }]
  const common = { transport: 'dns', port: 0, addresses: [], except: [], zones } as const
  const all = listeners.map((parts) => ({ ...common, bounds: {}, takesAnyClass: false, ...parts }))
  const host = createNodeHost({
    folder: '/',
    metrics: new Metrics(),
    log: () => undefined,
    abort: () => undefined,
    openCluster: () => {
      throw new Error('No cluster here')
    },
  })
  return new Resolver(all, [chain], host)
}

/** Runs a function with a server, then closes it. */
export async function withServer(run: (server: DnsServer) => Promise<void>): Promise<void> {
  const server = new DnsServer(new Metrics())
  try {
    await run(server)
  } finally {
    await server.close()
  }
}

/** Serves on a free port; retries when the port is in use for UDP. */
export async function serveAnywhere(server: DnsServer, resolver: Resolver): Promise<number> {
  for (let i = 1; ; i++) {
    try {
      await server.serve(resolver)
      return server.ports[0] ?? 0
    } catch (error) {
      if (i === 20 || !/another process/.test(String(error))) throw error
    }
  }
}

/** Returns the answer section of a response as text. */
export const answersOf = (message: Uint8Array | undefined): string[] | undefined =>
  message && parseResponse(message)?.answer.map(formatRecord)

/** Queries a.example.org over UDP; returns the answer section. */
export async function ask(port: number, address = '127.0.0.1'): Promise<string[] | undefined> {
  return answersOf((await askUdp(address, port, queryWith(1))).message)
}

/** Returns the answer section that has one address. */
export const line = (address: string): string[] => [`a.example.org. 5 IN A ${address}`]
