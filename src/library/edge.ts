/**
 * `kubedoh/edge`: the gateway by Web APIs alone, for Deno, Bun, AWS Lambda, service workers and any
 * other runtime with `Request`, `Response`, `fetch` and `crypto.subtle`.
 * @module
 */
import type { Log } from '../dns/telemetry/log.ts'
import {
  GatewayConfigError,
  type GatewayVariables,
  readGatewayConfig,
  refuseProxyProtocol,
} from '../gateway/config/config.ts'
import { readVariableFiles } from '../gateway/config/variable-files.ts'
import type { GatewayRuntime } from '../gateway/routes/gateway.ts'
import { openStoredGateway, withPrimary, withStore } from '../gateway/routes/stored-gateway.ts'
import { Primary } from '../gateway/snapshots/primary.ts'
import { createMemoryGatewayStore, type GatewayStore } from '../gateway/snapshots/store.ts'
import { createWebHost } from './web-host.ts'
import { answerRequest } from './web-request.ts'

export type { JsonRecord, JsonReply } from '../gateway/doh/json-reply.ts'
export type { NameResolver } from '../gateway/doh/name-resolver.ts'
export { createMemoryGatewayStore, GatewayConfigError, type GatewayStore, type GatewayVariables }

/** Names of this machine. */
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]'])

/** The gateway's variables, and the files that its Corefile names. */
export type EdgeVariables = GatewayVariables & {
  /** Texts of files by path, as an object or its JSON. */
  readonly FILES?: string | Readonly<Record<string, string>>
}

/** Where a gateway keeps snapshots and tokens, and where it reports. */
export type EdgeOptions = {
  /** The store (default: memory, which the end of the process loses). */
  readonly store?: GatewayStore
  /**
   * A gateway to follow in place of a store: its `https://` URL, and a token of its
   * REPLICA_TOKEN_SHA256.
   */
  readonly follow?: { readonly url: string; readonly token: string }
  /** Receives warnings and errors (default: the console, as JSON lines). */
  readonly log?: Log
}

/** A gateway. */
export type EdgeGateway = {
  /**
   * Answers one request; `address` is the client's, which limits and `view` go by.
   * @param waitUntil keeps a promise alive beyond the response, where the runtime would end it
   */
  readonly fetch: (
    request: Request,
    address: string,
    waitUntil?: (promise: Promise<void>) => void,
  ) => Promise<Response>
}

/**
 * Creates a gateway from the same variables as the Worker (docs/gateway-variables.md). It has the
 * plugins of a Worker, and queries upstreams over HTTPS only.
 * @throws {GatewayConfigError} with the variable and the problem
 */
export async function createEdgeGateway(
  variables: EdgeVariables,
  { store = createMemoryGatewayStore(), follow, log }: EdgeOptions = {},
): Promise<EdgeGateway> {
  const files = readVariableFiles(variables)
  const config = await readGatewayConfig(variables, { file: 'COREFILE', source: files.source })
  refuseProxyProtocol(config)
  const host = createWebHost({ runtime: 'edge', files, ...(log && { log }) })
  const parts: Parameters<typeof withPrimary>[0] = {
    host,
    randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
    fetch: (url) => fetch(url, { redirect: 'manual' }),
    clientOf: (c) => ({ address: String(c.env.address), port: 0, transport: 'https' }),
    identitiesOf: () => [],
    keepAlive: (c, promise) => c.env.waitUntil(promise),
  }
  const runtime =
    follow === undefined
      ? withStore(config, parts, store)
      : withPrimary(parts, primaryOf(follow, host))
  const { app, direct } = await openStoredGateway(config, runtime)
  return {
    fetch: (sent, address, waitUntil = () => {}) =>
      answerRequest(direct, (request) => app.fetch(request, { address, waitUntil }), sent, {
        address,
        identities: () => [],
        keepAlive: waitUntil,
      }),
  }
}

/** @throws {GatewayConfigError} for a URL that would send the token in the clear */
function primaryOf(
  { url, token }: NonNullable<EdgeOptions['follow']>,
  { after, elapsed }: Pick<GatewayRuntime['host'], 'after' | 'elapsed'>,
): Primary {
  const { protocol, hostname } = URL.canParse(url) ? new URL(url) : { protocol: '', hostname: '' }
  if (protocol !== 'https:' && !(protocol === 'http:' && LOOPBACK.has(hostname))) {
    throw new GatewayConfigError(`follow.url is "${url}", expected https://HOST`)
  }
  const id = crypto.randomUUID()
  return new Primary({ url, token, id, after, elapsed, fetch: (to, init) => fetch(to, init) })
}
