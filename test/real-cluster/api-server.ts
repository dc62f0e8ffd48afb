/**
 * A real API server over a real etcd, on loopback, for one suite.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { errorCode } from '../../src/dns/bytes/unknown.ts'
import { freePort } from '../free-port.ts'
import type { Binaries } from './binaries.ts'
import { Etcd } from './etcd.ts'
import { type Running, start } from './processes.ts'

/** An API object. */
export type ApiObject = {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string }
  readonly [field: string]: unknown
}

const ADMIN = 'admin-token'
/** The exporter's token has only the rights of its ClusterRole. */
const EXPORTER = 'exporter-token'
const READY_MS = 180_000
const REQUEST_MS = 30_000
const CONNECTIONS = 16

type ServerOptions = {
  /** The IPv4 addresses of Services; those of 127.0.0.0/8 can be listened on without rights. */
  readonly serviceAddresses: string
}

/** The API server and its etcd. */
export class ApiServer {
  /** kubeconfig files of an administrator and of the exporter. */
  readonly adminConfig: string
  readonly exporterConfig: string
  /** The exporter's, with the token in a file of its own that is rotated, as in a Pod. */
  readonly podConfig: string
  private readonly folder: string
  private readonly port: number
  private readonly binaries: Binaries
  private etcd: Etcd | undefined
  private server: Running | undefined
  private agent: Agent | undefined
  private rotations = 0
  private readonly serviceAddresses: string

  private constructor(
    binaries: Binaries,
    folder: string,
    options: ServerOptions & { port: number },
  ) {
    this.binaries = binaries
    this.folder = folder
    this.port = options.port
    this.serviceAddresses = options.serviceAddresses
    this.adminConfig = join(folder, 'admin.kubeconfig')
    this.exporterConfig = join(folder, 'exporter.kubeconfig')
    this.podConfig = join(folder, 'pod.kubeconfig')
  }

  /** Starts both without objects. */
  static async start(binaries: Binaries, some: Partial<ServerOptions> = {}): Promise<ApiServer> {
    const folder = mkdtempSync(join(tmpdir(), 'kubedoh-cluster-'))
    const options = { serviceAddresses: '10.96.0.0/12', ...some, port: await freePort() }
    const server = new ApiServer(binaries, folder, options)
    server.etcd = await Etcd.start(binaries.etcd)
    server.writeKeys()
    await server.startServer()
    return server
  }

  /** Stops the API server only; etcd keeps the objects. */
  async pause(): Promise<void> {
    this.closeConnections()
    await this.server?.stop()
  }

  /** Kills the API server; etcd keeps the objects. */
  async crash(): Promise<void> {
    this.server?.child.kill('SIGKILL')
    await this.pause()
  }

  /** Starts the API server again. */
  async resume(): Promise<void> {
    await this.startServer()
  }

  /** Kills etcd, and starts it again after a time. The API server stays. */
  async crashEtcd(awayMs: number): Promise<void> {
    await this.etcd?.crash()
    await sleep(awayMs)
    await this.etcd?.resume()
    while (!(await this.isReady())) await sleep(100)
  }

  /**
   * Gives exporters another token in the file that `podConfig` names. The API server refuses the
   * previous one from its next start on.
   */
  rotateToken(): void {
    this.rotations++
    const token = `${EXPORTER}-${this.rotations}`
    this.writeTokens(token)
    writeFileSync(join(this.folder, 'token'), token)
  }

  /** Stops both and removes their data. */
  async stop(): Promise<void> {
    this.closeConnections()
    await this.server?.stop()
    await this.etcd?.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Creates an object. Rejects with the API server's message. */
  async create(object: ApiObject): Promise<void> {
    await this.send('POST', collectionPath(object), object)
  }

  /** Has an object checked as for its creation, unknown fields too. Rejects with the message. */
  async check(object: ApiObject): Promise<void> {
    const query = 'dryRun=All&fieldValidation=Strict'
    await this.send('POST', `${collectionPath(object)}?${query}`, object)
  }

  /**
   * Stores objects in etcd without the API server's checks, at thousands a second. Those that need
   * values which the API server gives, such as identifiers, must have them.
   */
  async store(objects: Iterable<ApiObject>): Promise<void> {
    await this.etcd?.putAll(keysOf(objects))
  }

  /** Sets an object's status. */
  async setStatus(object: ApiObject, status: unknown): Promise<void> {
    await this.send('PATCH', `${objectPath(object)}/status`, { status })
  }

  /** Reads an object. */
  async read(object: ApiObject): Promise<unknown> {
    return JSON.parse(await this.send('GET', objectPath(object), undefined))
  }

  /** Lists all objects of a kind. */
  async list(kind: string, apiVersion = 'v1'): Promise<readonly unknown[]> {
    const path = collectionPath({ apiVersion, kind, metadata: { name: '' } })
    const { items }: { items: unknown } = JSON.parse(await this.send('GET', path, undefined))
    // Items of a list do not name their kind.
    return Array.isArray(items) ? items.map((item: object) => ({ apiVersion, kind, ...item })) : []
  }

  /** Changes fields of an object (RFC 7386). */
  async patch(object: ApiObject, change: unknown): Promise<void> {
    await this.send('PATCH', objectPath(object), change)
  }

  /** Deletes an object. A Namespace is gone at once: no controller needs to empty it. */
  async delete(object: ApiObject): Promise<void> {
    await this.send('DELETE', objectPath(object), { gracePeriodSeconds: 0 })
    if (object.kind !== 'Namespace') return
    const body = { ...object, spec: { finalizers: [] } }
    await this.send('PUT', `${objectPath(object)}/finalize`, body)
  }

  /** Returns whether a user with groups may `get` Services in a namespace. */
  async mayReadServices(
    user: string,
    groups: readonly string[],
    namespace: string,
  ): Promise<boolean> {
    const resourceAttributes = { verb: 'get', group: '', resource: 'services', namespace }
    const spec = { user, groups, resourceAttributes }
    const body = { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview', spec }
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
    const { status }: { status: { allowed: boolean } } = JSON.parse(
      await this.send('POST', path, body),
    )
    return status.allowed
  }

  /** Writes a kubeconfig with a token of a ServiceAccount. @returns its path */
  async serviceAccountConfig(account: ApiObject): Promise<string> {
    const path = join(this.folder, `${account.metadata.name}.kubeconfig`)
    writeFileSync(path, this.kubeconfig({ token: await this.serviceAccountToken(account) }))
    return path
  }

  /** Has a token made for a ServiceAccount; for the API server itself without an audience. */
  async serviceAccountToken(account: ApiObject, audience?: string): Promise<string> {
    const spec = audience === undefined ? {} : { audiences: [audience] }
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }
    const answer = JSON.parse(await this.send('POST', `${objectPath(account)}/token`, body))
    return String(answer.status.token)
  }

  private closeConnections(): void {
    this.agent?.destroy()
    this.agent = undefined
  }

  private async startServer(): Promise<void> {
    const path = (name: string): string => join(this.folder, name)
    this.server = start(this.binaries.kubernetes, [
      'kube-apiserver',
      `--etcd-servers=${this.etcd?.url}`,
      `--secure-port=${this.port}`,
      '--bind-address=127.0.0.1',
      `--cert-dir=${path('certs')}`,
      '--authorization-mode=RBAC',
      `--token-auth-file=${path('tokens.csv')}`,
      `--service-account-key-file=${path('sa.pub')}`,
      `--service-account-signing-key-file=${path('sa.key')}`,
      '--service-account-issuer=https://kubernetes.default.svc.cluster.local',
      `--service-cluster-ip-range=${this.serviceAddresses},fd00:10:96::/112`,
      '--disable-admission-plugins=ServiceAccount',
    ])
    const deadline = Date.now() + READY_MS
    while (!(await this.isReady())) {
      if (Date.now() > deadline || this.server.child.exitCode !== null) {
        throw new Error(`the API server does not start:\n${this.server.tail()}`)
      }
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  private async isReady(): Promise<boolean> {
    try {
      return (await this.send('GET', '/readyz', undefined)) === 'ok'
    } catch {
      return false
    }
  }

  private writeKeys(): void {
    const path = (name: string): string => join(this.folder, name)
    const openssl = (...args: readonly string[]): void => {
      execFileSync('openssl', args, { stdio: 'ignore' })
    }
    openssl('genrsa', '-out', path('sa.key'), '2048')
    openssl('rsa', '-in', path('sa.key'), '-pubout', '-out', path('sa.pub'))
    this.rotateToken()
    const tokenFile = { name: 'tokenFile', config: { tokenFile: path('token') } }
    writeFileSync(this.adminConfig, this.kubeconfig({ token: ADMIN }))
    writeFileSync(this.exporterConfig, this.kubeconfig({ token: EXPORTER }))
    writeFileSync(this.podConfig, this.kubeconfig({ 'auth-provider': tokenFile }))
  }

  private writeTokens(podToken: string): void {
    const exporters = [EXPORTER, podToken].map((one) => `${one},exporter,exporter,"exporters"\n`)
    const admin = `${ADMIN},admin,admin,"system:masters"\n`
    writeFileSync(join(this.folder, 'tokens.csv'), `${admin}${exporters.join('')}`)
  }

  private kubeconfig(user: object): string {
    return JSON.stringify({
      apiVersion: 'v1',
      kind: 'Config',
      'current-context': 'test',
      contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
      users: [{ name: 'test', user }],
      clusters: [
        {
          name: 'test',
          cluster: {
            server: `https://127.0.0.1:${this.port}`,
            'certificate-authority': join(this.folder, 'certs/apiserver.crt'),
          },
        },
      ],
    })
  }

  /** Returns the agent that keeps connections; the API server has written its certificate. */
  private openAgent(): Agent {
    const ca = (): Buffer => readFileSync(join(this.folder, 'certs/apiserver.crt'))
    this.agent ??= new Agent({ ca: ca(), keepAlive: true, maxSockets: CONNECTIONS })
    return this.agent
  }

  /** Sends a request, again when the server has just closed the connection that was kept. */
  private send(method: string, path: string, body: unknown, isAgain = false): Promise<string> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json'
    const bytes = Buffer.from(body === undefined ? '' : JSON.stringify(body))
    const agent = this.openAgent()
    return new Promise((resolve, reject) => {
      const sent = request(
        {
          host: '127.0.0.1',
          port: this.port,
          path,
          method,
          agent,
          headers: {
            authorization: `Bearer ${ADMIN}`,
            'content-type': type,
            // Node sends no length with DELETE: the server would read the body as another request.
            'content-length': bytes.length,
          },
          timeout: REQUEST_MS,
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            if ((response.statusCode ?? 500) < 300) resolve(text)
            else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`))
          })
        },
      )
      sent.on('timeout', () => {
        sent.destroy(new Error(`${method} ${path}: no response for ${REQUEST_MS / 1000} s`))
      })
      sent.on('error', (error) => {
        const isClosed = ['EPIPE', 'ECONNRESET'].includes(errorCode(error))
        if (isClosed && sent.reusedSocket && !isAgain) {
          resolve(this.send(method, path, body, true))
        } else reject(error)
      })
      sent.end(bytes)
    })
  }
}

const PLURALS: Readonly<Record<string, string>> = {
  Namespace: 'namespaces',
  ConfigMap: 'configmaps',
  Secret: 'secrets',
  Service: 'services',
  EndpointSlice: 'endpointslices',
  Pod: 'pods',
  Role: 'roles',
  RoleBinding: 'rolebindings',
  ClusterRole: 'clusterroles',
  ClusterRoleBinding: 'clusterrolebindings',
  CustomResourceDefinition: 'customresourcedefinitions',
  DNS: 'dnses',
  Ingress: 'ingresses',
  DNSRecord: 'dnsrecords',
  HostRoute: 'hostroutes',
  ClientToken: 'clienttokens',
  ServiceImport: 'serviceimports',
  Gateway: 'gateways',
  HTTPRoute: 'httproutes',
  GRPCRoute: 'grpcroutes',
  TLSRoute: 'tlsroutes',
  DNSEndpoint: 'dnsendpoints',
  Node: 'nodes',
  ServiceAccount: 'serviceaccounts',
  PersistentVolumeClaim: 'persistentvolumeclaims',
  Deployment: 'deployments',
  PodDisruptionBudget: 'poddisruptionbudgets',
  NetworkPolicy: 'networkpolicies',
  HorizontalPodAutoscaler: 'horizontalpodautoscalers',
  DaemonSet: 'daemonsets',
  ServiceMonitor: 'servicemonitors',
  PrometheusRule: 'prometheusrules',
}

/** Paths of resources below `/registry` in etcd, where they are not the plural. */
const REGISTRY: Readonly<Record<string, string>> = {
  Service: 'services/specs',
  Ingress: 'ingress',
  Gateway: 'gateway.networking.k8s.io/gateways',
  HTTPRoute: 'gateway.networking.k8s.io/httproutes',
}

function* keysOf(objects: Iterable<ApiObject>): Generator<readonly [string, string]> {
  for (const object of objects) {
    const { kind, metadata } = object
    const folder = REGISTRY[kind] ?? PLURALS[kind]
    const path = [metadata.namespace, metadata.name].filter((part) => part !== undefined).join('/')
    yield [`/registry/${folder}/${path}`, JSON.stringify(object)]
  }
}

function collectionPath({ apiVersion, kind, metadata }: ApiObject): string {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  const scope = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`
  return `${root}${scope}/${PLURALS[kind]}`
}

function objectPath(object: ApiObject): string {
  return `${collectionPath(object)}/${object.metadata.name}`
}
