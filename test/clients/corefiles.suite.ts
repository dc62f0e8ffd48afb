/**
 * Serves unchanged Corefiles from the wild on their own ports and addresses, in a network namespace
 * (network_namespaces(7)), and queries them with dig and curl. Run by `npm run test:clients`.
 * @module
 */
import { match } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { describeUnless } from '../describe-unless.ts'
import { findMissing, shell } from './programs.ts'

const ROOT = join(import.meta.dirname, '../..')
const COREFILES = join(ROOT, 'test/corefiles')
/** The output of `kubectl get` for a cluster, and the keys of an etcd. */
const OBJECTS = `apiVersion: v1
kind: Service
metadata: {name: kubernetes, namespace: default}
spec: {clusterIP: 10.96.0.1, ports: [{port: 443}]}
`
const KEYS = '[{"key": "/dns/com/node1", "value": {"host": "192.168.1.13"}}]'
const KUBERNETES = {
  ask: 'kubernetes.default.svc.cluster.local',
  reply: /IN\s+A\s+10\.96\.0\.1\b/,
}

type Served = {
  readonly corefile: string
  /** Addresses of the machine besides 127.0.0.1; queries go to the first. */
  readonly addresses?: readonly string[]
  readonly port?: number
  readonly ask: string
  readonly reply: RegExp
  /** A status URL, and its expected text. */
  readonly url: string
  readonly says: RegExp
}

const SERVED: readonly Served[] = [
  { corefile: 'kubeadm', ...KUBERNETES, url: '127.0.0.1:8080/health', says: /^OK/ },
  {
    corefile: 'openshift-4',
    port: 5353,
    ...KUBERNETES,
    url: '127.0.0.1:8181/ready',
    says: /^OK/,
  },
  {
    corefile: 'openshift-4.8',
    port: 5353,
    ...KUBERNETES,
    url: '127.0.0.1:9153/metrics',
    says: /coredns_build_info/,
  },
  {
    corefile: 'openshift-3.11',
    ask: 'kubernetes.default.svc.cluster.local',
    reply: /\s30\s+IN\s+A\s+10\.96\.0\.1\b/,
    url: '127.0.0.1:9153/metrics',
    says: /^$/,
  },
  {
    corefile: 'nodelocal',
    addresses: ['10.96.0.10', '169.254.20.10'],
    ask: 'kubernetes.default.svc.cluster.local',
    reply: /status: SERVFAIL/,
    url: '169.254.20.10:8080/health',
    says: /^OK/,
  },
  {
    corefile: 'kubesphere-nodelocal',
    addresses: ['169.254.25.10'],
    ask: 'kubernetes.default.svc.cluster.local',
    reply: /status: SERVFAIL/,
    url: '169.254.25.10:9254/health',
    says: /^OK/,
  },
  {
    corefile: 'company',
    ask: 'some-api.company.com',
    reply: /IN\s+A\s+123\.59\.59\.33/,
    url: '127.0.0.1:8080/health',
    says: /^OK/,
  },
  {
    corefile: 'mini-k8s',
    ask: 'node1.com',
    reply: /IN\s+A\s+192\.168\.1\.13/,
    url: '127.0.0.1:9153/metrics',
    says: /coredns_build_info/,
  },
]

const missing = ['unshare', 'ip', 'dig', 'curl'].map(findMissing).find((one) => one !== undefined)

describeUnless(missing, 'Corefiles as people have them are served word for word', () => {
  let folder = ''

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'kubedoh-corefiles-'))
    writeFileSync(join(folder, 'objects.yaml'), OBJECTS)
    writeFileSync(join(folder, 'keys.json'), KEYS)
  })

  afterAll(() => {
    rmSync(folder, { recursive: true, force: true })
  })

  for (const served of SERVED) {
    it(served.corefile, async () => {
      const { dig, curl, log } = await ask(served, folder)
      match(dig, served.reply, log)
      match(curl, served.says, log)
    })
  }
})

/** Starts a server in a new network namespace, queries it once, and stops it. */
async function ask(
  { corefile, addresses = [], port = 53, ask: name, url }: Served,
  folder: string,
): Promise<{ readonly dig: string; readonly curl: string; readonly log: string }> {
  const script = `
ip link set lo up
for address in ${addresses.join(' ')}; do ip address add $address/32 dev lo; done
rm -f ${folder}/log
${ROOT}/bin/kubedoh serve --conf ${COREFILES}/${corefile}.Corefile --objects ${folder}/objects.yaml \\
  --etcd ${folder}/keys.json > ${folder}/log 2>&1 &
server=$!
for try in $(seq 300); do grep -qs '^ready' ${folder}/log && break; sleep 0.1; done
dig @${addresses[0] ?? '127.0.0.1'} -p ${port} ${name} +time=3 +tries=1
echo ----
curl -s -m 3 http://${url}
echo ----
kill -9 $server
cat ${folder}/log
`
  writeFileSync(join(folder, 'script'), script)
  const isRoot = process.getuid?.() === 0
  const output = await shell(`unshare ${isRoot ? '-n' : '-rn'} sh ${folder}/script 2>&1`)
  const [dig = '', curl = '', log = ''] = output.split('----\n')
  return { dig, curl, log }
}
