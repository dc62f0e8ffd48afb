/**
 * A small cluster, and a server for it.
 * @module
 */

import { join } from 'node:path'
import { type TestContext, vi } from 'vitest'
import { serve } from '../../src/cli/serve/serve.ts'
import type { RunningServer, ServeOptions } from '../../src/server/serve/serve-options.ts'
import { temporaryFolder } from '../cluster/follow/temporary-folder.ts'
import { Screen } from './run-cli.ts'

/** Objects: the Service `web` with one endpoint, and the Service `many` with a hundred. */
export const SHOP_YAML: string = `kind: Service
metadata: { namespace: shop, name: web }
spec: { clusterIP: 192.0.2.10, ports: [{ name: http, port: 80, protocol: TCP }] }
---
kind: EndpointSlice
metadata: { namespace: shop, name: web-1, labels: { kubernetes.io/service-name: web } }
addressType: IPv4
endpoints: [{ addresses: [198.51.100.1], hostname: web-a }]
ports: [{ name: http, port: 8080, protocol: TCP }]
---
kind: Service
metadata: { namespace: shop, name: many }
spec: { clusterIP: None }
---
kind: EndpointSlice
metadata: { namespace: shop, name: many-1, labels: { kubernetes.io/service-name: many } }
addressType: IPv4
endpoints: [${Array.from({ length: 100 }, (_, i) => `{ addresses: [203.0.113.${i}] }`).join(', ')}]
`

/** Answers for the cluster and for addresses, on loopback. */
export const SHOP_COREFILE = `. {
  bind 127.0.0.1
  kubernetes cluster.local in-addr.arpa {
    ttl 30
  }
}
`

/** Makes a folder with `Corefile` and `shop.yaml`, and other files. */
export function shopFolder(t: TestContext, files: Readonly<Record<string, string>> = {}): string {
  return temporaryFolder(t, { Corefile: SHOP_COREFILE, 'shop.yaml': SHOP_YAML, ...files })
}

/** A server of the shop, unless a test wants something else; its port is any that is free. */
export function serveOptions(folder: string, options: Partial<ServeOptions> = {}): ServeOptions {
  return {
    conf: join(folder, 'Corefile'),
    dnsPort: 0,
    objects: [join(folder, 'shop.yaml')],
    files: '',
    kubeconfig: '',
    etcd: '',
    dohListen: '',
    insecure: false,
    localAddresses: '192.0.2.53',
    ...options,
  }
}

/** A server that runs until its test ends. */
export type ShopServer = RunningServer & {
  readonly port: number
  readonly screen: Screen
  readonly folder: string
}

/** Starts a server. */
export async function startServer(
  t: TestContext,
  options: Partial<ServeOptions> = {},
  files: Readonly<Record<string, string>> = {},
): Promise<ShopServer> {
  const folder = shopFolder(t, files)
  const screen = new Screen()
  const running = await serve(serveOptions(folder, options), screen)
  let isStopped = false
  const stop = (): Promise<void> => {
    if (isStopped) return Promise.resolve()
    isStopped = true
    return running.stop()
  }
  t.onTestFinished(() => {
    // The end waits for a timer, whose clock a test may have stopped.
    vi.useRealTimers()
    return stop()
  })
  const [port = 0] = running.ports
  const { ports } = running
  const notReady: RunningServer['notReady'] = () => running.notReady()
  return { ports, notReady, reload: () => running.reload(), stop, port, screen, folder }
}
