/**
 * The file of `kubedoh doctor --bundle`: what a colleague needs to help, without secrets. Parts
 * that cannot be had say why.
 * @module
 */
import { writeFileSync } from 'node:fs'
import { release } from 'node:os'
import type { ObjectApi } from '../../cluster/api/object-api.ts'
import {
  errorText,
  fileReason,
  listOf,
  parseJson,
  recordOf,
  textOf,
} from '../../dns/bytes/unknown.ts'
import { VERSION } from '../../dns/telemetry/version.ts'
import { CommandError } from '../../server/node/output.ts'
import { readTextFile } from '../../server/node/read-files.ts'
import { parsePlainServer } from '../clients/query.ts'
import type { Input } from '../flags/flags.ts'
import { sendToGateway } from '../flags/operator-call.ts'
import type { Finding } from './doctor-findings.ts'
import {
  corefileSecrets,
  environmentSecrets,
  kubeconfigSecrets,
  redactCorefile,
  redactor,
} from './doctor-redact.ts'

const READ_MS = 10_000
/** Ports of `prometheus` and `ready` by default. */
const PAGES = ['9153/metrics', '8181/ready'] as const
/** Most servers that are read, and most lines and bytes of a log. */
const SERVERS_MAX = 8
const LOG_LINES_MAX = 300
const LOG_BYTES_MAX = 256 * 1024
/** Longest text of one part, in UTF-16 code units; the rest of it is cut. */
const TEXT_LENGTH_MAX = 1024 * 1024
const SERVICE = '/api/v1/namespaces/kube-system/services/kube-dns'
/** What a server reads of a cluster: group and resource. */
const READ_KINDS = [
  ['', 'namespaces'],
  ['', 'services'],
  ['discovery.k8s.io', 'endpointslices'],
  ['', 'pods'],
  ['multicluster.x-k8s.io', 'serviceimports'],
] as const

/** A Pod of the cluster's DNS Service. */
type DnsPod = { readonly name: string; readonly address: string; readonly account: string }

/**
 * Writes the file, for its owner only.
 * @throws {CommandError} if it exists or cannot be written
 */
export async function writeBundle(input: Input, findings: readonly Finding[]): Promise<void> {
  const path = input.text('bundle')
  const kubeconfig = input.text('kubeconfig')
  const conf = input.text('conf')
  const corefile = conf === '' ? '' : (readTextFile(conf) ?? '')
  const redact = redactor([
    ...corefileSecrets(corefile),
    ...environmentSecrets(process.env),
    ...['KUBEDOH_ADMIN_TOKEN', 'KUBEDOH_CLIENT_TOKEN'].map((name) => input.env(name)),
    ...(kubeconfig === '' ? [] : kubeconfigSecrets(readTextFile(kubeconfig) ?? '')),
  ])
  const parts = {
    time: new Date().toISOString(),
    versions: { kubedoh: VERSION, node: process.versions.node, system: systemOf() },
    findings,
    corefile: conf === '' ? 'pass --conf' : redactCorefile(corefile),
    gateway: await readGateway(input),
    ...(await readServers(input)),
  }
  const text = JSON.stringify(parts, (_, value: unknown) => {
    return typeof value === 'string' ? redact(value).slice(0, TEXT_LENGTH_MAX) : value
  })
  try {
    writeFileSync(path, `${text}\n`, { flag: 'wx', mode: 0o600 })
  } catch (error) {
    throw new CommandError(`Cannot write ${path}: ${fileReason(error)}`, { cause: error })
  }
}

function systemOf(): string {
  return `${process.platform} ${process.arch} ${release()}`
}

/** Returns the result of a function, or why it failed. */
async function tried<T>(read: () => Promise<T>): Promise<T | { readonly unavailable: string }> {
  try {
    return await read()
  } catch (error) {
    return { unavailable: errorText(error) }
  }
}

/** Reads the state, generations and metrics of the gateway. */
async function readGateway(input: Input): Promise<unknown> {
  if (input.text('gateway') === '') return 'pass --gateway'
  const page = (path: string): Promise<unknown> =>
    tried(async () => {
      const response = await sendToGateway(input, path)
      const text = await response.text()
      return { status: response.status, body: parseJson(text) ?? text }
    })
  const [ready, status, metrics] = await Promise.all(
    ['/readyz', '/v1/status', '/metrics'].map(page),
  )
  return { ready, status, metrics }
}

/** Reads the pages of servers, and with a kubeconfig their Pods, logs and rights. */
async function readServers(input: Input): Promise<Readonly<Record<string, unknown>>> {
  const path = input.text('kubeconfig')
  const server = input.text('server')
  const given = server === '' ? [] : [parsePlainServer(server).address]
  if (path === '') return { cluster: 'pass --kubeconfig', servers: await readPages(given) }
  const cluster = await tried(async () => {
    const { openApi } = await import('../../cluster/follow/watch.ts')
    return readCluster(openApi({ kind: 'kubeconfig', path, context: undefined }))
  })
  const pods = 'pods' in cluster ? cluster.pods : []
  const addresses = [...given, ...pods.map(({ address }) => address)].filter(Boolean)
  return { cluster, servers: await readPages(addresses) }
}

async function readPages(addresses: readonly string[]): Promise<unknown> {
  const read = async (address: string): Promise<readonly [string, unknown]> => {
    const host = address.includes(':') ? `[${address}]` : address
    const pages = PAGES.map(async (page) => {
      const signal = AbortSignal.timeout(READ_MS)
      const body = await tried(async () =>
        (await fetch(`http://${host}:${page}`, { signal })).text(),
      )
      return [page, body] as const
    })
    return [address, Object.fromEntries(await Promise.all(pages))]
  }
  return Object.fromEntries(await Promise.all(addresses.slice(0, SERVERS_MAX).map(read)))
}

async function readCluster(api: ObjectApi) {
  const signal = AbortSignal.timeout(READ_MS)
  const get = (path: string): Promise<unknown> =>
    api.send({ method: 'GET', path, resource: 'doctor' }, signal)
  const { gitVersion } = recordOf(await get('/version'))
  const selector = Object.entries(recordOf(recordOf(recordOf(await get(SERVICE)).spec).selector))
  const query = encodeURIComponent(selector.map(([key, value]) => `${key}=${value}`).join(','))
  const folder = '/api/v1/namespaces/kube-system/pods'
  const listed = recordOf(await get(`${folder}?labelSelector=${query}&limit=${SERVERS_MAX}`))
  const pods = listOf(listed.items).map(podOf)
  const tail = `tailLines=${LOG_LINES_MAX}&limitBytes=${LOG_BYTES_MAX}`
  const logs = pods.map(async ({ name }) => {
    const log = await tried(() => get(`${folder}/${name}/log?${tail}`))
    return [name, log] as const
  })
  const accounts = [...new Set(pods.map(({ account }) => account))]
  return {
    version: gitVersion,
    pods,
    logs: Object.fromEntries(await Promise.all(logs)),
    rights: await Promise.all(accounts.map((account) => rightsOf(api, account, signal))),
  }
}

function podOf(pod: unknown): DnsPod & Readonly<Record<string, unknown>> {
  const { metadata, spec, status } = recordOf(pod)
  const { nodeName, serviceAccountName, containers } = recordOf(spec)
  const { podIP, phase, containerStatuses } = recordOf(status)
  return {
    name: textOf(recordOf(metadata).name),
    address: textOf(podIP),
    account: textOf(serviceAccountName),
    node: nodeName,
    phase,
    images: listOf(containers).map((one) => recordOf(one).image),
    restarts: listOf(containerStatuses).map((one) => recordOf(one).restartCount),
    ready: listOf(containerStatuses).map((one) => recordOf(one).ready),
  }
}

/** Returns what a service account may list and watch (SubjectAccessReview), or why not. */
async function rightsOf(api: ObjectApi, account: string, signal: AbortSignal): Promise<unknown> {
  const user = `system:serviceaccount:kube-system:${account}`
  const groups = ['system:serviceaccounts', 'system:serviceaccounts:kube-system']
  const review = async (group: string, resource: string, verb: string): Promise<unknown> => {
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user, groups, resourceAttributes: { group, resource, verb } },
    }
    const path = '/apis/authorization.k8s.io/v1/subjectaccessreviews'
    const sent = api.send({ method: 'POST', path, resource: 'subjectaccessreviews', body }, signal)
    return recordOf(recordOf(await sent).status).allowed === true
  }
  const kinds = READ_KINDS.map(async ([group, resource]) => {
    const [list, watch] = await Promise.all(
      ['list', 'watch'].map((verb) => tried(() => review(group, resource, verb))),
    )
    return [resource, { list, watch }] as const
  })
  return { user, kinds: Object.fromEntries(await Promise.all(kinds)) }
}
