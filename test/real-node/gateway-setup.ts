/**
 * What the chart's gateway and exporters need on a real node: Secrets, a certificate and a volume.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClusterKeys, createToken } from '../../src/exporter/cluster-keys.ts'
import { GATEWAY_RUNTIME, type HelmChart, helmChart, SYSTEM } from './cluster.ts'
import type { Asked } from './gateway-request.ts'
import type { KubernetesNode } from './node.ts'
import { NODE } from './parts.ts'

/** Name of the gateway's objects. */
export const GATEWAY = 'kubedoh-gateway'
/** Name of the exporters' objects. */
export const EXPORTER = 'kubedoh-exporter'
const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')

/** Returns the first address that the gateway has for a name, or why it has none. */
export type Ask = (name: string) => Promise<string>

/** What tests need of the gateway: questions, its clients' connection, and its variables. */
export type Gateway = {
  readonly ask: Ask
  readonly asked: Asked
  /** A token that reads the metrics only. */
  readonly metricsToken: string
  /** The keys of the Secret. */
  variables: Readonly<Record<string, string>>
}

/** Two exporters and three gateways. */
const VALUES = [
  'gateway.enabled=true',
  // Earlier charts do not know the value.
  ...(GATEWAY_RUNTIME === 'node' ? [] : [`gateway.runtime=${GATEWAY_RUNTIME}`]),
  'gateway.replicas=3',
  // A gateway that stops then lingers for 6 s, 20 by default.
  'gateway.terminationGracePeriodSeconds=16',
  'gateway.accessModes[0]=ReadWriteMany',
  `gateway.caSecretName=${GATEWAY}-tls`,
  'exporter.enabled=true',
  'exporter.cluster=test',
  `exporter.gateway=https://${GATEWAY}.kube-system.svc`,
]

/** The Pod of the example sees its own namespace. */
const ISSUERS = [
  {
    issuer: 'https://kubernetes.default.svc.cluster.local',
    audiences: ['kubedoh'],
    keys: 'cluster:test',
    rules: [
      {
        when: { 'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'shop' } } },
        namespaces: ['default'],
      },
    ],
  },
]

/**
 * Installs the chart with two exporters and three gateways on one volume, and what they wait for.
 * @param options of Helm
 */
export function installGateway(
  node: KubernetesNode,
  ...options: readonly string[]
): Promise<Gateway> {
  return installGatewayBy(helmChart, node, ...options)
}

/** Does as {@link installGateway} does, with another chart. */
export async function installGatewayBy(
  helm: HelmChart,
  node: KubernetesNode,
  ...options: readonly string[]
): Promise<Gateway> {
  await helm(node, 'install', ...VALUES.flatMap((value) => ['--set', value]), ...options)
  const gateway = await addSecrets(node)
  await addVolume(node)
  for (const name of [GATEWAY, EXPORTER]) {
    await node.kubectl(...SYSTEM, 'rollout', 'status', `deployment/${name}`, '--timeout=60s')
  }
  return gateway
}

/** Creates the Secrets for which gateway and exporters wait. */
async function addSecrets(node: KubernetesNode): Promise<Gateway> {
  const jsonpath = 'jsonpath={.spec.clusterIP}'
  const address = await node.kubectl(...SYSTEM, 'get', 'service', GATEWAY, '-o', jsonpath)
  const file = (name: string): string => join(node.folder, `gateway.${name}`)
  const names = `subjectAltName=DNS:${GATEWAY}.kube-system.svc,IP:${address}`
  execFileSync(
    'openssl',
    [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-subj', '/CN=gateway', '-addext', names, '-keyout', file('key'), '-out', file('crt')],
    ],
    { stdio: 'ignore' },
  )
  const { token, signingKey, ...publics } = await createClusterKeys()
  const [client, reader] = [await createToken(), await createToken()]
  const certificate = readFileSync(file('crt'), 'utf8')
  const variables = {
    CLUSTERS: JSON.stringify({ test: publics }),
    CLIENT_TOKEN_SHA256: client.sha256,
    READ_ONLY_TOKEN_SHA256: reader.sha256,
    ISSUERS: JSON.stringify(ISSUERS),
  }
  const secrets = {
    [`${GATEWAY}-tls`]: {
      'tls.crt': certificate,
      'tls.key': readFileSync(file('key'), 'utf8'),
      'ca.crt': certificate,
    },
    [EXPORTER]: { token, 'signing-key': signingKey },
    [GATEWAY]: variables,
  }
  for (const [name, data] of Object.entries(secrets)) await applySecret(node, name, data)
  const options = ['--server', `https://${address}/dns-query`, '--token', client.token, '--json']
  const ask: Ask = async (name) => {
    const text = await node.exec(KUBEDOH, 'query', name, ...options, '--ca', file('crt'))
    const { Answer: [answer] = [], Status: status } = JSON.parse(text)
    return answer?.data ?? `status ${status}`
  }
  const servername = `${GATEWAY}.kube-system.svc`
  const asked = {
    ...{ host: address, port: 443, servername, ca: file('crt'), token: client.token },
    names: [['kubernetes.default.svc.cluster.local', NODE.apiServer]] as const,
  }
  return { ask, asked, variables, metricsToken: reader.token }
}

/** Creates or replaces a Secret in kube-system. */
export async function applySecret(
  node: KubernetesNode,
  name: string,
  stringData: Readonly<Record<string, string>>,
): Promise<void> {
  const metadata = { name, namespace: 'kube-system' }
  await node.apply(JSON.stringify({ apiVersion: 'v1', kind: 'Secret', metadata, stringData }))
}

/** Provides the volume of the gateway's claim, a folder of the node: nothing else here does. */
async function addVolume(node: KubernetesNode): Promise<void> {
  const folder = join(node.folder, 'var/gateway')
  mkdirSync(folder)
  // The kubelet does not set the group of folders of the host.
  chmodSync(folder, 0o777)
  const spec = {
    capacity: { storage: '1Gi' },
    accessModes: ['ReadWriteMany'],
    hostPath: { path: '/var/gateway' },
    claimRef: { name: GATEWAY, namespace: 'kube-system' },
  }
  const metadata = { name: GATEWAY }
  await node.apply(JSON.stringify({ apiVersion: 'v1', kind: 'PersistentVolume', metadata, spec }))
}
