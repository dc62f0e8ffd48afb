/**
 * `kubedoh serve` over UDP, TCP and TLS as an attack target, with its quiet client.
 * @module
 */
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { startWithTwin, type Target } from './harness.ts'
import { runServe } from './https-targets.ts'
import { NAME } from './target-cluster.ts'

/** The ports of a server. */
export type DnsPorts = { readonly dns: number; readonly dot: number }

/**
 * Starts a server and its twin.
 * @param folder the folder for their files
 * @param corefileOf returns the Corefile; `cert.pem` and `key.pem` are beside it
 * @param warmUp sends a server the load of its first minute (default: nothing)
 */
export async function startDnsTarget(
  folder: string,
  corefileOf: (ports: DnsPorts) => string,
  warmUp?: (ports: DnsPorts) => Promise<void>,
): Promise<DnsPorts & { readonly target: Target }> {
  const start = async () => {
    const [dns, dot] = [await freePort(), await freePort()]
    const program = await runServe(mkdtempSync(join(folder, 'one-')), corefileOf({ dns, dot }))
    const probes = [
      { kind: 'udp', port: dns, name: NAME, perSecond: 200 },
      { kind: 'tcp', port: dns, name: NAME, perSecond: 50 },
      { kind: 'tls', port: dot, name: NAME, perSecond: 20 },
    ] as const
    return { dns, dot, program, probes }
  }
  const { target, one } = await startWithTwin(start, warmUp)
  return { target, dns: one.dns, dot: one.dot }
}
