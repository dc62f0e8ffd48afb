/**
 * Which distribution of Kubernetes a cluster is, for `kubedoh doctor`: the page that is about it,
 * and the Service of its own DNS.
 * @module
 */
import type { ApiConnection, ObjectApi } from '../../cluster/api/object-api.ts'
import { listOf, recordOf, textOf } from '../../dns/bytes/unknown.ts'
import { type Finding, ok } from './doctor-findings.ts'

/** Where a Service is. */
export type ServicePlace = { readonly namespace: string; readonly name: string }

/** What the API server shows of a cluster. */
export type ClusterKind = {
  /** Empty if the API server is unreachable, which the check of the Service reports. */
  readonly findings: readonly Finding[]
  /** The Service of the distribution's DNS, if it is not kube-system/kube-dns. */
  readonly service: ServicePlace | undefined
}

/** A distribution, and its signs, of which one suffices. */
type Distribution = {
  readonly name: string
  /** File below docs/install. */
  readonly page: string
  readonly service?: ServicePlace
  /** In the version of the API server or of a kubelet. */
  readonly version?: RegExp
  /** Start of a node's providerID. */
  readonly provider?: string
  /** Start of the name of a node's label or annotation. */
  readonly label?: string
  /** A group of the API. */
  readonly group?: string
}

/** The first that fits counts: minikube and kind are made with kubeadm. */
const DISTRIBUTIONS: readonly Distribution[] = [
  {
    name: 'OpenShift',
    page: 'openshift.md',
    group: 'config.openshift.io',
    label: 'node.openshift.io/',
    service: { namespace: 'openshift-dns', name: 'dns-default' },
  },
  {
    name: 'RKE2',
    page: 'rke2.md',
    version: /\+rke2r\d/,
    service: { namespace: 'kube-system', name: 'rke2-coredns-rke2-coredns' },
  },
  { name: 'k3s', page: 'k3s.md', version: /\+k3s\d/, provider: 'k3s://' },
  // EKS's own versions end with a commit; those of EKS Distro, which kubeadm installs, do not.
  { name: 'EKS', page: 'eks.md', version: /-eks-[0-9a-f]{7,}$/, label: 'eks.amazonaws.com/' },
  { name: 'AKS', page: 'aks.md', label: 'kubernetes.azure.com/' },
  { name: 'GKE', page: 'gke.md', version: /-gke\.\d/, label: 'cloud.google.com/gke-' },
  { name: 'kind', page: 'kind-minikube.md', provider: 'kind://' },
  { name: 'minikube', page: 'kind-minikube.md', label: 'minikube.k8s.io/' },
  { name: 'kubeadm', page: 'kubeadm.md', label: 'kubeadm.alpha.kubernetes.io/' },
]

const NOTHING: ClusterKind = { findings: [], service: undefined }
const READ_MS = 10_000
/** Nodes that are read: those of a cluster are of one distribution. */
const NODES_MAX = 5

/**
 * Recognizes the distribution by what the credentials may read of versions, nodes and API groups.
 * Each is optional: many roles may not list nodes.
 */
export async function checkDistribution(connection: ApiConnection): Promise<ClusterKind> {
  const api = await openOptional(connection)
  if (api === undefined) return NOTHING
  const [version, nodes, groups] = await Promise.all([
    read(api, '/version'),
    read(api, `/api/v1/nodes?limit=${NODES_MAX}`),
    read(api, '/apis'),
  ])
  if (version === undefined) return NOTHING
  const gitVersion = textOf(recordOf(version).gitVersion)
  const signs = signsOf(gitVersion, listOf(recordOf(nodes).items), listOf(recordOf(groups).groups))
  const found = DISTRIBUTIONS.find((distribution) => fits(distribution, signs))
  const text = found === undefined ? 'a distribution without a page' : found.name
  const page = `docs/install/${found?.page ?? 'README.md'}`
  return {
    findings: [ok('cluster', `${text}, Kubernetes ${gitVersion}; see ${page}`)],
    service: found?.service,
  }
}

/** Returns `undefined` for a connection that is invalid: the check of the Service reports that. */
async function openOptional(connection: ApiConnection): Promise<ObjectApi | undefined> {
  const { openApi } = await import('../../cluster/follow/watch.ts')
  try {
    return openApi(connection)
  } catch {
    return undefined
  }
}

/** Returns the body of a response, `undefined` for any error. */
async function read(api: ObjectApi, path: string): Promise<unknown> {
  const signal = AbortSignal.timeout(READ_MS)
  try {
    return await api.send({ method: 'GET', path, resource: 'doctor' }, signal)
  } catch {
    return undefined
  }
}

type Signs = {
  readonly versions: readonly string[]
  readonly providers: readonly string[]
  /** Names of labels and annotations. */
  readonly labels: readonly string[]
  readonly groups: readonly string[]
}

function signsOf(version: string, nodes: readonly unknown[], groups: readonly unknown[]): Signs {
  const kubelets = nodes.map((node) => recordOf(recordOf(recordOf(node).status).nodeInfo))
  return {
    versions: [version, ...kubelets.map(({ kubeletVersion }) => textOf(kubeletVersion))],
    providers: nodes.map((node) => textOf(recordOf(recordOf(node).spec).providerID)),
    labels: nodes.flatMap((node) => {
      const { labels, annotations } = recordOf(recordOf(node).metadata)
      return [...Object.keys(recordOf(labels)), ...Object.keys(recordOf(annotations))]
    }),
    groups: groups.map((group) => textOf(recordOf(group).name)),
  }
}

function fits({ version, provider, label, group }: Distribution, signs: Signs): boolean {
  return (
    (version !== undefined && signs.versions.some((one) => version.test(one))) ||
    (provider !== undefined && signs.providers.some((one) => one.startsWith(provider))) ||
    (label !== undefined && signs.labels.some((one) => one.startsWith(label))) ||
    (group !== undefined && signs.groups.includes(group))
  )
}
