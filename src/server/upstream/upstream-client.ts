/**
 * Queries upstreams over UDP, TCP, TLS, HTTPS and gRPC.
 * @module
 */
import { connect, isIP } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { askDoh } from '../../gateway/doh/doh-client.ts'
import type {
  ExchangeOptions,
  Upstream,
  UpstreamClient,
  UpstreamOptions,
} from '../../resolver/contract/host.ts'
import { tlsOptions } from '../keys/tls-identity.ts'
import { timerMs } from '../node/timer-ms.ts'
import { ConnectionPool } from './connection-pool.ts'
import { askGrpc } from './grpc-client.ts'
import { addressesOf, type HostAddresses } from './host-addresses.ts'
import { HttpsFetch } from './https-fetch.ts'
import { UdpPool } from './udp-pool.ts'

/**
 * Creates a client of an upstream, at its address or at those of its hostname.
 * @throws {Error} for unusable certificates or keys
 */
export function openUpstream(upstream: Upstream, options: UpstreamOptions): UpstreamClient {
  const { address: name, url } = upstream
  const address = name.replace(/%[^%]+$/, '')
  if (isIP(address) !== 0) return openAt(upstream, name, options)
  const serverName = upstream.serverName ?? (url === undefined ? name : new URL(url).hostname)
  const named = { ...upstream, serverName }
  // Checks the certificates now, not when the first address is known.
  openAt(named, '127.0.0.1', options).close()
  return new NamedUpstream({
    name,
    addresses: addressesOf(name, options.resolvers),
    open: (at) => openAt(named, at, options),
  })
}

type Named = {
  readonly name: string
  readonly addresses: HostAddresses
  /** Creates a client at an address. */
  readonly open: (address: string) => UpstreamClient
}

/** An upstream at all addresses of its hostname: tries the next one after a failure. */
class NamedUpstream implements UpstreamClient {
  private readonly named: Named
  private readonly clients = new Map<string, UpstreamClient>()
  private turn = 0

  constructor(named: Named) {
    this.named = named
  }

  exchange = async (message: Uint8Array, options: ExchangeOptions): Promise<Uint8Array> => {
    const { name, addresses, open } = this.named
    const startMs = performance.now()
    const current = addresses.current()
    const found =
      current instanceof Promise
        ? await withinTime(current, { ...options, reason: `no address of ${name} in time` })
        : current
    this.forget(found)
    const { turn } = this
    const address = found[turn % found.length] ?? ''
    const client = this.clients.get(address) ?? open(address)
    this.clients.set(address, client)
    const timeoutMs = Math.max(1, options.timeoutMs - (performance.now() - startMs))
    try {
      return await client.exchange(message, { ...options, timeoutMs })
    } catch (error) {
      // Queries that fail together must not come round to the same address.
      if (this.turn === turn) this.turn++
      throw error
    }
  }

  close = (): void => {
    this.forget([])
  }

  private forget(addresses: readonly string[]): void {
    for (const [address, client] of this.clients) {
      if (addresses.includes(address)) continue
      this.clients.delete(address)
      client.close()
    }
  }
}

/** Resolves like a promise, within a query's time. Does not end what the promise stands for. */
function withinTime<T>(
  promise: Promise<T>,
  { timeoutMs, signal, reason }: ExchangeOptions & { readonly reason: string },
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(reason)), timerMs(timeoutMs))
    signal?.addEventListener('abort', () => reject(new Error('aborted')), { once: true })
    promise.then(resolve, reject).finally(() => clearTimeout(timer))
  })
}

function openAt(upstream: Upstream, address: string, options: UpstreamOptions): UpstreamClient {
  switch (upstream.transport) {
    case 'dns':
      return openPlain(upstream, address, options)
    case 'tls':
      return openTls(upstream, address, options)
    case 'https':
    case 'grpc':
      return openHttp(upstream, address, options)
  }
}

function openPlain(
  { port }: Upstream,
  address: string,
  { sourceAddress, onConnection, ...kept }: UpstreamOptions,
): UpstreamClient {
  const local = sourceAddress === undefined ? {} : { localAddress: sourceAddress }
  const udp = new UdpPool({ address, port, sourceAddress })
  const pool = new ConnectionPool(() => connect({ host: address, port, noDelay: true, ...local }), {
    ...kept,
    onConnection: (isReused) => onConnection('tcp', isReused),
  })
  return {
    exchange: (message, options) => {
      if (options.protocol === 'tcp') return pool.ask(message, options)
      onConnection('udp', false)
      return udp.ask(message, options.timeoutMs, options.signal)
    },
    close: () => {
      pool.close()
    },
  }
}

function openTls(
  upstream: Upstream,
  address: string,
  { sourceAddress, onConnection, tls, ...kept }: UpstreamOptions,
): UpstreamClient {
  const { port } = upstream
  const local = sourceAddress === undefined ? {} : { localAddress: sourceAddress }
  const secure = tlsOptions(upstream, tls)
  let session: Buffer | undefined
  const pool = new ConnectionPool(
    () => {
      const resumed = session === undefined ? {} : { session }
      const socket = connectTls({ host: address, port, ...local, ...secure, ...resumed })
      socket.setNoDelay(true)
      // A session ticket saves the next connection most of the handshake.
      socket.on('session', (given) => {
        session = given
      })
      return socket
    },
    { ...kept, onConnection: (isReused) => onConnection('tcp-tls', isReused) },
  )
  return {
    exchange: (message, options) => pool.ask(message, options),
    close: () => {
      pool.close()
    },
  }
}

function openHttp(upstream: Upstream, address: string, options: UpstreamOptions): UpstreamClient {
  const { transport, url, port, token } = upstream
  if (url === undefined) throw new Error('an upstream over HTTP needs a URL')
  const { expireMs, idleMax, sourceAddress, dohMethod: method } = options
  const onlyHttp2 = transport === 'grpc'
  const isPlain = onlyHttp2 && url.startsWith('http:')
  const tls = isPlain ? undefined : tlsOptions(upstream, options.tls)
  const https = new HttpsFetch({
    address,
    port,
    tls,
    onlyHttp2,
    expireMs,
    idleMax,
    sourceAddress,
  })
  const ask = onlyHttp2 ? askGrpc : askDoh
  return {
    exchange: (message, { timeoutMs, signal, connectionAgeMsMax }) =>
      ask(url, message, {
        fetch: (to, request) => https.fetch(to, request, connectionAgeMsMax),
        signal: AbortSignal.any([
          AbortSignal.timeout(Math.ceil(timeoutMs)),
          ...(signal ? [signal] : []),
        ]),
        method,
        token,
      }),
    close: () => {
      https.close()
    },
  }
}
