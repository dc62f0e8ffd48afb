/**
 * How listeners serve streams: TCP, TLS (RFC 7858), HTTPS (RFC 8484) or gRPC.
 * @module
 */

import { type Metrics, metricInfo, type Series } from '../../dns/telemetry/metrics.ts'
import type { Listener } from '../../resolver/chain/listener.ts'
import type { ConnectionBounds } from '../../resolver/contract/feature.ts'
import type { Answer } from '../sockets/answer.ts'
import type { ProxyGateOptions } from '../sockets/proxy-gate.ts'
import type { StreamServer, Streams } from '../sockets/sockets.ts'
import { TCP_LIMITS, TcpServer, TLS_LIMITS } from '../sockets/tcp-server.ts'
import type { AppServer } from './app-server.ts'
import { createDohServer } from './doh-server.ts'
import { createGrpcServer } from './grpc-server.ts'

const HTTPS_RESPONSES = metricInfo(
  'coredns_dns_https_responses_total',
  'Counter of DoH responses per server and http status code.',
  'server status',
)

/** The current state of the listener; called for each message or connection. */
export type StreamParts = {
  readonly answer: () => Answer
  readonly bounds: () => ConnectionBounds
  /** From whom PROXY headers count; left out where nobody sends any. */
  readonly proxy?: ProxyGateOptions | undefined
  readonly metrics: Metrics
}

/** Returns how a listener serves streams. */
export function streamsOf(
  { transport, port, tls, httpConnectionsMax: connectionsMax, streamsMax }: Listener,
  { answer, bounds, proxy, metrics }: StreamParts,
): Streams {
  switch (transport) {
    case 'dns':
      return {
        name: 'TCP',
        hasUdp: true,
        create: () =>
          new TcpServer(answer, () => ({ ...TCP_LIMITS, ...bounds() }), undefined, proxy),
      }
    case 'tls':
      return {
        name: 'TLS',
        hasUdp: false,
        create: () => new TcpServer(answer, () => ({ ...TLS_LIMITS, ...bounds() }), tls, proxy),
      }
    case 'https': {
      const counters = new Map<number, Series>()
      const onResponse = (status: number): void => {
        let counter = counters.get(status)
        if (counter === undefined) {
          counter = metrics.counter(HTTPS_RESPONSES, [`https://:${port}`, String(status)])
          counters.set(status, counter)
        }
        counter.value++
      }
      const create = (): StreamServer =>
        streamServer(createDohServer({ answer, tls, connectionsMax, bounds, proxy, onResponse }))
      return { name: 'HTTPS', hasUdp: false, create }
    }
    case 'grpc':
      return {
        name: 'gRPC',
        hasUdp: false,
        create: () =>
          streamServer(
            createGrpcServer({ answer, tls, connectionsMax, streamsMax, bounds, proxy }),
          ),
      }
  }
}

function streamServer(server: AppServer): StreamServer {
  return {
    listen: (address, at, reusePort) => server.listen(address, at, { ipv6Only: true, reusePort }),
    renew: (service) => server.renew(service),
    stopListening: () => server.stopListening(),
    close: () => server.close(),
  }
}
