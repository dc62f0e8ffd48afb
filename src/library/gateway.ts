/**
 * `kubedoh/gateway`: the gateway within another program.
 * @module
 */

import type { Log } from '../dns/telemetry/log.ts'
import type { GatewayVariables } from '../gateway/config/config.ts'
import { GatewayConfigError, readGatewayConfig } from '../gateway/config/config.ts'
import type { GatewayStore } from '../gateway/snapshots/store.ts'
import { createNodeGateway, createNodeStore } from '../server/gateway/node-gateway.ts'

export type { TokenRecord } from '../gateway/access/token.ts'
export type { Addition, TokenDays, TokenStore } from '../gateway/access/token-store.ts'
export {
  type ClusterStore,
  createMemoryGatewayStore,
  type KeptGenerations,
  type SignedManifest,
  type StoredManifest,
  type StoredShard,
} from '../gateway/snapshots/store.ts'
export { GatewayConfigError, type GatewayStore, type GatewayVariables }

/** Where a gateway keeps snapshots and tokens, and where it reports. */
export type GatewayOptions = {
  /** Folder for snapshots and tokens (default: memory, which the end of the process loses). */
  readonly folder?: string
  /** A store of your own, in place of `folder`. */
  readonly store?: GatewayStore
  /** Receives warnings and errors (default: they are dropped). */
  readonly log?: Log
}

/** A gateway. */
export type LibraryGateway = {
  /** Answers one request; `address` is the client's, which limits and `view` go by. */
  readonly fetch: (request: Request, address: string) => Promise<Response>
  /** Listens for plain HTTP, and resolves with the port. @throws {Error} when it cannot */
  readonly listen: (host: string, port: number) => Promise<number>
  /** Stops its timers, and listening. */
  readonly close: () => Promise<void>
}

/**
 * Creates a gateway from the same variables as the Worker (docs/gateway-variables.md). Its Corefile
 * can import nothing.
 * @throws {GatewayConfigError} with the variable and the problem
 */
export async function createGateway(
  variables: GatewayVariables,
  { folder, store, log = () => {} }: GatewayOptions = {},
): Promise<LibraryGateway> {
  const config = await readGatewayConfig(variables)
  const gateway = await createNodeGateway({
    config,
    store: store ?? createNodeStore(folder, log),
    corefileFolder: '/',
    tls: undefined,
    log,
  })
  return {
    fetch: (request, address) => gateway.fetch(request, address),
    listen: (host, port) => gateway.listen(host, port),
    close: () => gateway.close(),
  }
}
