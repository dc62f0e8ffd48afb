/**
 * A gateway over TLS in a process of its own, a cluster that published to it, and a page that the
 * cluster's Service `page` points to.
 * @module
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { hashToken } from '../../src/gateway/access/token.ts'
import { AUTHORITY, CLIENT, SERVER } from '../certificates.ts'
import { freePort } from '../free-port.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { shell } from './programs.ts'

/** The program's entry, for Node. */
export const RUN: string = join(import.meta.dirname, '../../src/cli/run.ts')
/** The operator's token. */
export const ADMIN = 'the-operator-of-these-tests'
const FILES = {
  'ca.pem': AUTHORITY,
  'cert.pem': SERVER.cert,
  'key.pem': SERVER.key,
  'client.pem': CLIENT.cert,
  'client.key': CLIENT.key,
}
/** The Service of a page, whose only endpoint is this machine. */
const OBJECTS = `apiVersion: v1
kind: List
items:
  - { apiVersion: v1, kind: Namespace, metadata: { name: shop } }
  - apiVersion: v1
    kind: Service
    metadata: { name: page, namespace: shop }
    spec: { clusterIP: None, clusterIPs: [None], ports: [{ name: http, port: 80, protocol: TCP }] }
  - apiVersion: discovery.k8s.io/v1
    kind: EndpointSlice
    metadata: { name: page-1, namespace: shop, labels: { kubernetes.io/service-name: page } }
    addressType: IPv4
    ports: [{ name: http, port: 80, protocol: TCP }]
    endpoints: [{ addresses: [127.0.0.1], conditions: { ready: true } }]
  - apiVersion: v1
    kind: Service
    metadata: { name: many, namespace: shop }
    spec: { clusterIP: None, clusterIPs: [None], ports: [{ name: http, port: 80, protocol: TCP }] }
  - apiVersion: discovery.k8s.io/v1
    kind: EndpointSlice
    metadata: { name: many-1, namespace: shop, labels: { kubernetes.io/service-name: many } }
    addressType: IPv4
    endpoints: [${Array.from({ length: 1000 }, (_, i) => `{ addresses: [127.1.${i >> 8}.${i & 255}] }`).join(', ')}]
`

/** Gateways, their files, and the page. */
export class TlsGateways {
  /** Port of the page. */
  pagePort = 0
  private readonly folder = mkdtempSync(join(tmpdir(), 'kubedoh-https-'))
  private readonly running: Running[] = []
  private pages: Server | undefined

  /** Starts the page: with a title, and at other hosts than the cluster's a script. */
  async startPage(script = '', isOurs: (host: string) => boolean = () => true): Promise<Server> {
    for (const [name, text] of Object.entries(FILES)) writeFileSync(this.file(name), text)
    writeFileSync(this.file('objects.yaml'), OBJECTS)
    this.pagePort = await freePort()
    this.pages = createServer(({ headers: { host = '' } }, response) => {
      response.setHeader('content-type', 'text/html')
      const hello = `<title>here</title>hello from the page <b>${host}</b>`
      response.end(isOurs(host) ? hello : `<script>${script}</script>`)
    })
    return this.pages.listen(this.pagePort, '127.0.0.1')
  }

  /** Returns the path of a file: `ca.pem` and others, or a new one. */
  file(name: string): string {
    return join(this.folder, name)
  }

  /** Starts a gateway and publishes a cluster to it. @returns its port */
  async start(
    cluster: string,
    corefile: string,
    flags: readonly string[] = [],
    variables: Readonly<Record<string, string>> = {},
  ): Promise<number> {
    const bound = await freePort()
    writeFileSync(this.file(`Corefile-${bound}`), corefile)
    const { token, signingKey, publicKey, tokenSha256 } = await createClusterKeys()
    const tls = ['--tls-cert', this.file('cert.pem'), '--tls-key', this.file('key.pem')]
    const listen = ['--conf', this.file(`Corefile-${bound}`), '--listen', `127.0.0.1:${bound}`]
    const gateway = this.run(['gateway', ...listen, ...tls, ...flags], {
      CLUSTERS: JSON.stringify({ [cluster]: { publicKey, tokenSha256 } }),
      ADMIN_TOKEN_SHA256: await hashToken(ADMIN),
      ...variables,
    })
    await gateway.line(/^ready/)
    const objects = ['--objects', this.file('objects.yaml'), '--cluster', cluster, '--once']
    const exporting = this.run(['export', ...objects, '--gateway', `https://localhost:${bound}`], {
      KUBEDOH_TOKEN: token,
      KUBEDOH_SIGNING_KEY: signingKey,
      NODE_EXTRA_CA_CERTS: this.file('ca.pem'),
    })
    await exporting.line(/^ready/)
    return bound
  }

  /** Starts `kubedoh`, which ends with the others. */
  run(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Running {
    const one = start(process.execPath, [RUN, ...args], environment)
    this.running.push(one)
    return one
  }

  /** Returns the last lines that each program printed. */
  printed(): readonly string[] {
    return this.running.map((one) => one.tail())
  }

  /** Creates a token. @returns its text */
  async makeToken(at: number, wish: unknown): Promise<string> {
    const url = `https://localhost:${at}/v1/tokens`
    const head = `-H 'authorization: Bearer ${ADMIN}' --cacert ${this.file('ca.pem')}`
    const text = await shell(`curl -sS ${head} -d '${JSON.stringify(wish)}' ${url}`)
    const [, made = ''] = /"token":"([^"]+)"/.exec(text) ?? []
    return made
  }

  /** Creates a database of certificates for a browser that trusts the gateways. */
  async trust(database: string): Promise<void> {
    const certutil = `certutil -d sql:${database}`
    await shell(`${certutil} -N --empty-password`)
    await shell(`${certutil} -A -t C,, -n kubedoh-test -i ${this.file('ca.pem')}`)
  }

  /** Ends all and removes the files. */
  async stop(): Promise<void> {
    for (const one of this.running.toReversed()) await one.stop()
    this.pages?.closeAllConnections()
    this.pages?.close()
    rmSync(this.folder, { recursive: true, force: true })
  }
}
