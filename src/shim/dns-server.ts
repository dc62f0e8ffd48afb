/**
 * A DNS server for a resolver: its sockets, and the change to another resolver while it serves.
 * @module
 */
import type { Listener } from '../resolver/listener.ts'
import type { Resolver } from '../resolver/resolver.ts'
import { FeatureServers, type FeatureSource } from './feature-servers.ts'
import { ListenError, Sockets } from './sockets.ts'
import type { Answer } from './udp-server.ts'

type Bound = { readonly sockets: Sockets; listener: Listener; resolver: Resolver }

/** Serves one resolver at a time. */
export class DnsServer {
  private readonly bound = new Map<string, Bound>()
  private readonly features: FeatureServers
  private current: Resolver | undefined
  private isStopping = false

  /** @param metrics what `prometheus` shows */
  constructor(metrics: FeatureSource['metrics']) {
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
        if (!this.bound.has(key)) opened.set(key, await this.open(listener, resolver))
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
      }
    }
  }

  private async open(listener: Listener, resolver: Resolver): Promise<Bound> {
    if (listener.transport !== 'dns') {
      throw new ListenError(`"${listener.transport}://" blocks are not served yet, only "dns://"`)
    }
    const answer: Answer = (message, client) =>
      bound.resolver.answer(bound.listener, message, client)
    const sockets = new Sockets(
      () => answer,
      () => bound.listener.bounds,
    )
    const bound: Bound = { sockets, listener, resolver }
    await sockets.open(listener)
    return bound
  }
}

function listenerKey({ transport, port, addresses, except }: Listener): string {
  return [transport, port, ...addresses, '-', ...except].join(' ')
}
