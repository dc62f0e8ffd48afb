/**
 * The demo's issuer, at which alice and bob log in. It has a thread of its own, which loads the
 * provider once all else has started, so that the demo starts as fast as without.
 * @module
 */
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { GatewayVariables } from '../src/gateway/config/config.ts'
import { generateKeyPair } from '../src/snapshot/format/signature.ts'

/** The public client of the page and of `kubedoh login`. */
const CLIENT_ID = 'kubedoh'

/** A running issuer. */
export type DemoIssuer = {
  /** Its `iss`. */
  readonly url: string
  /** Loads the provider before somebody waits for it. */
  readonly load: () => void
  readonly stop: () => Promise<void>
}

/** Starts the issuer on a free port of a loopback address. */
export async function startIssuer(host: string): Promise<DemoIssuer> {
  const thread = new Worker(new URL('issuer-thread.ts', import.meta.url), {
    workerData: { host, clientId: CLIENT_ID },
    // The provider warns of versions of Node that are newer than itself.
    stdout: true,
    stderr: true,
  })
  const [url] = await once(thread, 'message')
  return {
    url: String(url),
    load: () => thread.postMessage('load'),
    stop: async () => {
      await thread.terminate()
    },
  }
}

/** Returns the variables of a gateway: alice sees one namespace, bob all. */
export async function issuerVariables(
  issuer: string,
  namespace: string,
): Promise<Pick<GatewayVariables, 'ISSUERS' | 'EXCHANGE_KEY'>> {
  const { privateKey } = await generateKeyPair()
  const rules = [
    { when: { sub: 'alice' }, namespaces: [namespace], expires: '12h' },
    { when: { sub: 'bob' }, namespaces: ['*'], explain: true, expires: '12h' },
  ]
  const client = { id: CLIENT_ID, scopes: 'openid profile offline_access' }
  const ISSUERS = JSON.stringify([{ issuer, audiences: [CLIENT_ID], client, rules }])
  return { ISSUERS, EXCHANGE_KEY: privateKey }
}
