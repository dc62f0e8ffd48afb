/**
 * A DNS server for a resolver: its sockets, and the change to another resolver while it serves.
 * @module
 */
import type { Listener } from '../resolver/listener.ts'
import type { Resolver } from '../resolver/resolver.ts'
import { FeatureServers, type FeatureSource } from './feature-servers.ts'
import { Sockets } from './sockets.ts'
import { streamsOf } from './streams.ts'
import type { Answer } from './udp-server.ts'

type Bound = { readonly sockets: Sockets; listener: Listener; resolver: Resolver }

/** Serves one resolver at a time. */
export class DnsServer {
  private readonly bound = new Map<string, Bound>()
  private readonly features: FeatureServers
  private readonly metrics: FeatureSource['metrics']
  private current: Resolver | undefined
  private isStopping = false

  /** @param metrics what `prometheus` shows */
  constructor(metrics: FeatureSource['metrics']) {
    this.metrics = metrics
    const notReady = (): readonly string[] =>
      this.isStopping ? ['Shutting down'] : (this.current?.notReady() ?? ['starting'])
    this.features = new FeatureServers({ metrics, notReady })
  }

  /**
   * Serves a resolver in place of the one before: sockets that both have stay open, and no query is
   * lost.
   * @throws {ListenError} when a port cannot be had; the one before then serves on
   */
  async serve(resolver: Resolver): Promise<void> {
    const opened = new Map<string, Bound>()
    try {
      for (const listener of resolver.listeners) {
        const key = listenerKey(listener)
        if (this.bound.has(key)) continue
        await this.makeRoom(listener)
        opened.set(key, await this.open(listener, resolver))
      }
      await this.features.apply(resolver.features)
    } catch (error) {
      await Promise.all([...opened.values()].map(({ sockets }) => sockets.close()))
      throw error
    }
    const previous = this.current
    this.current = resolver
    for (const [key, bound] of opened) this.bound.set(key, bound)
    await this.switchTo(resolver)
    resolver.start()
    previous?.stop()
  }

  /** Ports of the listeners, in the order of the Corefile. */
  get ports(): number[] {
    const listeners = this.current?.listeners ?? []
    return listeners.flatMap((one) => this.bound.get(listenerKey(one))?.sockets.port ?? [])
  }

  /** Longest time that `health` wants the server to go on while it says that it stops. */
  get lameduckMs(): number {
    const features = this.current?.features ?? []
    return Math.max(0, ...features.map((one) => (one.kind === 'health' ? one.lameduckMs : 0)))
  }

  /** Says on `/ready` that the end is near. */
  announceStop(): void {
    this.isStopping = true
  }

  /** Closes all sockets and stops all plugins. */
  async close(): Promise<void> {
    await Promise.all([...this.bound.values()].map(({ sockets }) => sockets.close()))
    await this.features.close()
    this.current?.stop()
  }

  private async switchTo(resolver: Resolver): Promise<void> {
    const listeners = new Map(resolver.listeners.map((one) => [listenerKey(one), one]))
    for (const [key, bound] of this.bound) {
      const listener = listeners.get(key)
      if (listener === undefined) {
        this.bound.delete(key)
        await bound.sockets.close()
      } else {
        bound.listener = listener
        bound.resolver = resolver
        if (listener.tls !== undefined) bound.sockets.renew(listener.tls)
      }
    }
  }

  /** Closes what listens at the same place in another manner, which cannot be changed. */
  private async makeRoom(listener: Listener): Promise<void> {
    for (const [key, bound] of this.bound) {
      if (placeKey(bound.listener) !== placeKey(listener)) continue
      this.bound.delete(key)
      await bound.sockets.close()
    }
  }

  private async open(listener: Listener, resolver: Resolver): Promise<Bound> {
    const answer: Answer = (message, client) =>
      bound.resolver.answer(bound.listener, message, client)
    const streams = streamsOf(listener, {
      answer: () => answer,
      bounds: () => bound.listener.bounds,
      metrics: this.metrics,
    })
    const sockets = new Sockets(() => answer, streams)
    const bound: Bound = { sockets, listener, resolver }
    await sockets.open(listener)
    return bound
  }
}

/** Where a listener is. */
function placeKey({ transport, port, addresses, except }: Listener): string {
  return [transport, port, ...addresses, '-', ...except].join(' ')
}

/** Where it is, and all about it that cannot be changed while it is there. */
function listenerKey(listener: Listener): string {
  const { tls, httpConnectionsMax } = listener
  return [placeKey(listener), tls?.clientAuth, httpConnectionsMax].join(' ')
}
