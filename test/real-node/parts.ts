/**
 * Command lines and configuration files of the parts of a Kubernetes node with its control plane.
 * @module
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Binaries } from '../real-cluster/binaries.ts'

/** Addresses of a cluster with one IP family. */
type Addresses = {
  readonly ip: string
  /** Network of the node's interface. */
  readonly bits: number
  /** Network of all pods; each node has a part of `podBits` bits. */
  readonly pods: string
  readonly podBits: number
  /** Route of pods to everything else. */
  readonly everywhere: string
  readonly services: string
  readonly apiServer: string
  readonly dns: string
  /** Address at which kube-proxy and the kubelet listen. */
  readonly any: string
}

const IPV4: Addresses = {
  ip: '172.31.0.2',
  bits: 24,
  pods: '10.244.0.0/16',
  podBits: 24,
  everywhere: '0.0.0.0/0',
  services: '10.96.0.0/16',
  apiServer: '10.96.0.1',
  dns: '10.96.0.10',
  any: '0.0.0.0',
}

const IPV6: Addresses = {
  ip: 'fd00:31::2',
  bits: 64,
  pods: 'fd00:244::/60',
  podBits: 64,
  everywhere: '::/0',
  services: 'fd00:96::/112',
  apiServer: 'fd00:96::1',
  dns: 'fd00:96::a',
  any: '::',
}

/** Whether nodes, pods and Services have IPv6 addresses only: `KUBEDOH_NODE_FAMILY=6`. */
export const IS_IPV6_ONLY: boolean = process.env.KUBEDOH_NODE_FAMILY === '6'

/** Addresses and the domain of the cluster. */
export const NODE: Addresses & { readonly domain: string } = {
  ...(IS_IPV6_ONLY ? IPV6 : IPV4),
  domain: 'cluster.local',
}

/** Image of the pods' sandbox. */
export const SANDBOX = 'localhost/musl:1'

/** A node of the cluster: its name, its address, and the network of its pods. */
export type NodeIdentity = { readonly name: string; readonly ip: string; readonly pods: string }

const [PODS = ''] = NODE.pods.split('/')

/** The node that has the control plane. */
export const FIRST: NodeIdentity = {
  name: 'node1',
  ip: NODE.ip,
  pods: `${PODS}/${NODE.podBits}`,
}
/** A node that may join it (IPv4 only). */
export const SECOND: NodeIdentity = { name: 'node2', ip: '172.31.0.3', pods: '10.244.1.0/24' }

/** A part: its name and its command line. */
export type Part = { readonly name: string; readonly command: readonly [string, ...string[]] }

/** What the parts need: their programs, the node's folder, and Debian's packages. */
export type Place = {
  readonly binaries: Binaries
  readonly run: string
  readonly node: NodeIdentity
  /** After how long without a sign of a node its pods are taken out of Services. */
  readonly lostAfterSeconds: number
  readonly debian: string
}

/** Users, and the groups by which the API server's own roles know them. */
const USERS: Readonly<Record<string, readonly [user: string, group: string]>> = {
  admin: ['admin', 'system:masters'],
  manager: ['system:kube-controller-manager', ''],
  scheduler: ['system:kube-scheduler', ''],
  proxy: ['system:kube-proxy', ''],
  [FIRST.name]: [`system:node:${FIRST.name}`, 'system:nodes'],
  [SECOND.name]: [`system:node:${SECOND.name}`, 'system:nodes'],
}
const API_SERVER = `https://${IS_IPV6_ONLY ? `[${NODE.ip}]` : NODE.ip}:6443`

/**
 * Names outside of the cluster, to which its DNS forwards: one of this suite, one of
 * Kubernetes.
 */
const OUTSIDE = `www.example.com dns.google 8.8.8.8/32 2001:4860:4860::8888/128 {
  bind ${NODE.ip}
  hosts {
    192.0.2.80 www.example.com
    8.8.8.8 dns.google
    2001:4860:4860::8888 dns.google
  }
}
. {
  bind ${NODE.ip}
  template ANY ANY {
    rcode NXDOMAIN
  }
}
`

/** Writes the keys, tokens and configuration files of the control plane. */
export function writeControlPlane({ run }: Place): void {
  const key = join(run, 'sa.key')
  execFileSync('openssl', ['genrsa', '-out', key, '2048'], { stdio: 'ignore' })
  execFileSync('openssl', ['rsa', '-in', key, '-pubout', '-out', join(run, 'sa.pub')], {
    stdio: 'ignore',
  })
  const rows = Object.entries(USERS).map(
    ([name, [user, group]]) => `${name},${user},${user},${group}`,
  )
  write(run, 'tokens.csv', `${rows.join('\n')}\n`)
  write(run, 'outside', OUTSIDE)
}

/** Writes the configuration files of what each node runs. @param control the first node's folder */
export function writeFiles({ run, debian, node }: Place, control: string): void {
  for (const name of Object.keys(USERS)) write(run, `${name}.conf`, kubeconfig(control, name))
  write(run, 'resolv.conf', `nameserver ${NODE.ip}\n`)
  write(run, 'containerd.toml', containerdConfig(run, debian))
  write(run, 'cni/10-pods.conflist', cni(node))
  write(run, 'proxy.conf.json', proxyConfig(run, node))
  write(run, 'kubelet.conf.json', kubeletConfig(run))
}

function write(run: string, name: string, content: unknown): void {
  writeFileSync(join(run, name), typeof content === 'string' ? content : JSON.stringify(content))
}

function kubeconfig(control: string, token: string): unknown {
  const authority = join(control, 'certs/apiserver.crt')
  const cluster = { server: API_SERVER, 'certificate-authority': authority }
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'node',
    contexts: [{ name: 'node', context: { cluster: 'node', user: 'user' } }],
    users: [{ name: 'user', user: { token } }],
    clusters: [{ name: 'node', cluster }],
  }
}

/**
 * Without CAP_SYS_RESOURCE no process may lower its OOM score, and runc gives up: hence
 * restrict_oom_score_adj, and oomScoreAdj 0 below.
 */
function containerdConfig(run: string, debian: string): string {
  const cri = 'plugins."io.containerd.grpc.v1.cri"'
  return `version = 2
[${cri}]
  sandbox_image = "${SANDBOX}"
  restrict_oom_score_adj = true
[${cri}.containerd.runtimes.runc]
  runtime_type = "io.containerd.runc.v2"
[${cri}.containerd.runtimes.runc.options]
  SystemdCgroup = false
[${cri}.cni]
  bin_dir = "${join(debian, 'usr/lib/cni')}"
  conf_dir = "${join(run, 'cni')}"
`
}

function cni({ pods }: NodeIdentity): unknown {
  const bridge = {
    type: 'bridge',
    bridge: 'cni0',
    isGateway: true,
    hairpinMode: true,
    ipam: {
      type: 'host-local',
      ranges: [[{ subnet: pods }]],
      routes: [{ dst: NODE.everywhere }],
    },
  }
  const portmap = { type: 'portmap', capabilities: { portMappings: true } }
  return { cniVersion: '0.4.0', name: 'pods', plugins: [bridge, portmap] }
}

/** Only the first network namespace may set the sizes of conntrack. */
function proxyConfig(run: string, { name }: NodeIdentity): unknown {
  return {
    kind: 'KubeProxyConfiguration',
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    mode: 'iptables',
    bindAddress: NODE.any,
    clusterCIDR: NODE.pods,
    hostnameOverride: name,
    oomScoreAdj: 0,
    clientConnection: { kubeconfig: join(run, 'proxy.conf') },
    conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
  }
}

/** Images cannot be pulled again: the kubelet must not delete any when the disk is full. */
function kubeletConfig(run: string): unknown {
  return {
    kind: 'KubeletConfiguration',
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    address: NODE.any,
    cgroupDriver: 'cgroupfs',
    failCgroupV1: false,
    failSwapOn: false,
    oomScoreAdj: 0,
    clusterDNS: [NODE.dns],
    clusterDomain: NODE.domain,
    resolvConf: join(run, 'resolv.conf'),
    authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
    authorization: { mode: 'AlwaysAllow' },
    imageGCHighThresholdPercent: 100,
    evictionHard: { 'memory.available': '100Mi', 'nodefs.available': '1%' },
    nodeStatusUpdateFrequency: '2s',
    registryPullQPS: 0,
  }
}

/** Returns what the first node starts first: the API server, and a DNS server of the outside. */
export function firstParts({ binaries, run }: Place): Part[] {
  const path = (name: string): string => join(run, name)
  const etcd = 'http://127.0.0.1:2379'
  const { kubernetes } = binaries
  return [
    { name: 'outside', command: [binaries.coredns, '-conf', path('outside')] },
    {
      name: 'etcd',
      command: [binaries.etcd, '--data-dir=/var/lib/etcd/data', '--unsafe-no-fsync'],
    },
    {
      name: 'kube-apiserver',
      command: [
        kubernetes,
        'kube-apiserver',
        `--etcd-servers=${etcd}`,
        '--secure-port=6443',
        `--advertise-address=${NODE.ip}`,
        `--cert-dir=${path('certs')}`,
        '--authorization-mode=Node,RBAC',
        '--enable-admission-plugins=NodeRestriction',
        '--kubelet-preferred-address-types=InternalIP',
        '--anonymous-auth=false',
        '--allow-privileged=true',
        // For a test of Kubernetes: names of Services may start with a digit.
        '--feature-gates=RelaxedServiceNameValidation=true',
        `--token-auth-file=${path('tokens.csv')}`,
        `--service-account-key-file=${path('sa.pub')}`,
        `--service-account-signing-key-file=${path('sa.key')}`,
        `--service-account-issuer=https://kubernetes.default.svc.${NODE.domain}`,
        `--service-cluster-ip-range=${NODE.services}`,
      ],
    },
  ]
}

/** Returns the other parts of the control plane, which need an API server that is ready. */
export function controlParts({ binaries, run, lostAfterSeconds }: Place): Part[] {
  const path = (name: string): string => join(run, name)
  const part = (name: string, ...args: readonly string[]): Part => ({
    name,
    command: [binaries.kubernetes, name, ...args],
  })
  return [
    part(
      'kube-controller-manager',
      `--kubeconfig=${path('manager.conf')}`,
      '--leader-elect=false',
      '--use-service-account-credentials',
      `--root-ca-file=${path('certs/apiserver.crt')}`,
      `--service-account-private-key-file=${path('sa.key')}`,
      '--allocate-node-cidrs',
      `--cluster-cidr=${NODE.pods}`,
      `--node-cidr-mask-size=${NODE.podBits}`,
      `--node-monitor-grace-period=${lostAfterSeconds}s`,
      `--service-cluster-ip-range=${NODE.services}`,
    ),
    part('kube-scheduler', `--kubeconfig=${path('scheduler.conf')}`, '--leader-elect=false'),
  ]
}

/** Returns what each node runs: the container engine, then kube-proxy and the kubelet. */
export function nodeParts({ binaries, run, node }: Place): {
  readonly engine: Part
  readonly others: readonly Part[]
} {
  const path = (name: string): string => join(run, name)
  const { kubernetes } = binaries
  const others: readonly Part[] = [
    {
      name: 'kube-proxy',
      command: [kubernetes, 'kube-proxy', `--config=${path('proxy.conf.json')}`],
    },
    {
      name: 'kubelet',
      command: [
        kubernetes,
        'kubelet',
        `--config=${path('kubelet.conf.json')}`,
        `--kubeconfig=${path(`${node.name}.conf`)}`,
        `--hostname-override=${node.name}`,
        `--node-ip=${node.ip}`,
      ],
    },
  ]
  const command = ['containerd', '--config', path('containerd.toml')] as const
  return { engine: { name: 'containerd', command }, others }
}
