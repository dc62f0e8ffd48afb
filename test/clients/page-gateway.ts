/**
 * A gateway over TLS with a cluster of many names, and tokens, for the suite of the page.
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { AUTHORITY, SERVER } from '../certificates.ts'
import { freePort } from '../free-port.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { shell } from './programs.ts'

const ROOT = join(import.meta.dirname, '../..')
const RUN = join(ROOT, 'src/cli/run.ts')
const ADMIN = 'the-operator-of-these-tests'
/** Everything below `evil.test` has a TXT record that would run a script, or turn text around. */
const COREFILE = `. {
  template IN TXT evil.test {
    answer "{{ .Name }} 5 IN TXT \\"<img src=x onerror=document.title=1>\\" \\"\u202egnp.exe\\""
  }
  kubernetes demo.test {
    cluster demo
  }
}
`

/** A running gateway. */
export type PageGateway = {
  readonly origin: string
  /** Creates a token. */
  readonly token: (fields: object) => Promise<{ readonly id: string; readonly token: string }>
  readonly revoke: (id: string) => Promise<void>
  /** Stops the gateway, which a test then restarts on the same port. */
  readonly stopGateway: () => Promise<void>
  readonly startGateway: () => Promise<void>
  /** Everything that the gateway wrote last. */
  readonly log: () => string
  readonly close: () => Promise<void>
}

/** Starts a gateway on a port, any without one, and publishes objects to it. */
export async function startPageGateway(
  objects: string,
  variables: Readonly<Record<string, string>> = {},
  port?: number,
): Promise<PageGateway> {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-page-'))
  const file = (name: string): string => join(folder, name)
  const texts = { Corefile: COREFILE, 'objects.yaml': objects, 'ca.pem': AUTHORITY }
  const pems = { 'cert.pem': SERVER.cert, 'key.pem': SERVER.key }
  for (const [name, text] of Object.entries({ ...texts, ...pems })) writeFileSync(file(name), text)
  port ??= await freePort()
  const origin = `https://localhost:${port}`
  const { token: exporter, signingKey, publicKey, tokenSha256 } = await createClusterKeys()
  let gateway: Running | undefined
  const startGateway = async (): Promise<void> => {
    const tls = ['--tls-cert', file('cert.pem'), '--tls-key', file('key.pem')]
    const listen = ['--conf', file('Corefile'), '--listen', `127.0.0.1:${port}`]
    const store = ['--store', `file:${file('store')}`]
    gateway = start(process.execPath, [RUN, 'gateway', ...listen, ...tls, ...store], {
      CLUSTERS: JSON.stringify({ demo: { publicKey, tokenSha256 } }),
      ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
      ...variables,
    })
    await gateway.line(/^ready/)
  }
  await startGateway()
  const names = ['--objects', file('objects.yaml'), '--cluster', 'demo', '--once']
  const exporting = start(process.execPath, [RUN, 'export', ...names, '--gateway', origin], {
    KUBEDOH_TOKEN: exporter,
    KUBEDOH_SIGNING_KEY: signingKey,
    NODE_EXTRA_CA_CERTS: file('ca.pem'),
  })
  await exporting.line(/^ready/)
  await exporting.stop()
  const call = `curl -sSf --cacert ${file('ca.pem')} -H 'authorization: Bearer ${ADMIN}'`
  return {
    origin,
    token: async (fields) => {
      const made = await shell(`${call} -d '${JSON.stringify(fields)}' ${origin}/v1/tokens`)
      return JSON.parse(made)
    },
    revoke: async (id) => {
      await shell(`${call} -X DELETE ${origin}/v1/tokens/${id}`)
    },
    startGateway,
    stopGateway: async () => {
      await gateway?.stop()
    },
    log: () => gateway?.tail() ?? '',
    close: async () => {
      await gateway?.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
