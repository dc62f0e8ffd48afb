/**
 * Server, exporter, gateway, node cache and router with the chart's Corefiles and exactly its
 * rights, on a real API server: what they may do, and whether they export every metric that an
 * alert or a dashboard names.
 * @module
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createSocket, type Socket } from 'node:dgram'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { parse } from 'yaml'
import { createClusterKeys, createToken } from '../../src/exporter/cluster-keys.ts'
import { findMissing } from '../clients/programs.ts'
import { ROUTE_DEFINITION } from '../cluster/host-route-cases.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { type ApiObject, ApiServer } from '../real-cluster/api-server.ts'
import { prepareBinaries } from '../real-cluster/binaries.ts'
import { shopObjects } from '../real-cluster/objects.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { becomes, conditionsOf, createOnce, fetchFrom, hostRoute } from '../real-cluster/routing.ts'
import { askUdp, echo, queryWith } from '../server/clients.ts'
import { metricsOf, queriesOf, readDashboards } from './dashboards.ts'
import { CHART, objectsOf, render } from './helm.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const HOST = '127.0.0.1'
const ROUTER_PAGE = readFileSync(join(import.meta.dirname, '../../docs/router.md'), 'utf8')
const noNginx = findMissing('nginx')
const SCRAPES_MS = 30_000
/** Labels that Prometheus adds to all series, and that of histograms. */
const ADDED = ['instance', 'job', 'namespace', 'cluster', 'le']
/** Kinds that this API server does not serve are in no rule here. */
const EXPORTER_COREFILE = `. {
  kubernetes cluster.local {
    pods verified
  }
  k8s_gateway apps.example.org {
    resources Ingress Service Node
  }
}
`

/** Exported after the first EndpointSlice that changes while a watch is open. */
const PROGRAMMING = 'coredns_kubernetes_dns_programming_duration_seconds'

const binaries = prepareBinaries()

/** Names of metrics, with the labels that their samples have. */
type Families = Map<string, Set<string>>

/** Largest bounds of histograms, by the name of their buckets. */
const lastBuckets = new Map<string, number>()

describeUnless(typeof binaries === 'string' && binaries, "the chart's processes", () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-running-'))
  const running: Running[] = []
  const families: Families = new Map()
  let api: ApiServer
  let objects: readonly ApiObject[]
  let upstream: Socket

  const write = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(path, text)
    return path
  }
  const find = (kind: string, component: string): ApiObject => {
    const name = `kubedoh-${component}`
    const found = objects.find((one) => one.kind === kind && one.metadata.name === name)
    assert.ok(found !== undefined, `${kind} ${name}`)
    return found
  }
  const run = (args: readonly string[], variables: Readonly<Record<string, string>> = {}) => {
    const one = start(KUBEDOH, args, variables)
    running.push(one)
    return one
  }
  const runProgram = (command: string, args: readonly string[]): Running => {
    const one = start(command, args)
    running.push(one)
    return one
  }
  const configOf = (component: string) =>
    api.serviceAccountConfig(find('ServiceAccount', component))
  const corefileOf = (component: string): string =>
    Object(find('ConfigMap', component).data).Corefile

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    const set = ['exporter.enabled=true', 'exporter.gateway=https://a', 'exporter.cluster=test']
    const others = ['gateway', 'nodeCache', 'server.proportional'].map(
      (one) => `${one}.enabled=true`,
    )
    const values = [...set, ...others].flatMap((value) => ['--set', value])
    const exporter = ['--set-file', `exporter.corefile=${write('exporter', EXPORTER_COREFILE)}`]
    const [, routerValues = ''] = /```yaml\n(router:[^`]*)```/.exec(ROUTER_PAGE) ?? []
    const router = ['--values', write('router.yaml', routerValues)]
    objects = objectsOf(render(...router, ...values, ...exporter).stdout)
    const rights = objects.filter(({ kind }) => /^ServiceAccount$|Role/.test(kind))
    const definition = ROUTE_DEFINITION as ApiObject
    for (const object of [...rights, definition, ...shopObjects()]) await api.create(object)
    upstream = createSocket('udp4').bind(0, HOST)
    upstream.on('message', (query, from) => upstream.send(echo(query), from.port, from.address))
    await once(upstream, 'listening')
  })
  afterAll(async () => {
    await Promise.all(running.map((one) => one.stop()))
    upstream?.close()
    await api?.stop()
    rmSync(folder, { recursive: true })
  })

  test('the server is Ready and answers with its rights', async () => {
    const [dns, metrics, health, ready] = await Promise.all([1, 2, 3, 4].map(() => freePort()))
    const text = corefileOf('server')
      .replace('.:53', `.:${dns}`)
      .replace(':9153', `${HOST}:${metrics}`)
      .replace('health', `health ${HOST}:${health}`)
      .replace('ready', `ready ${HOST}:${ready}`)
      .replace('/etc/resolv.conf', `${HOST}:${upstream.address().port}`)
    const config = await configOf('server')
    const server = run(['serve', '--conf', write('server', text), '--kubeconfig', config])
    await server.line(/^ready: /)
    for (const name of ['web.shop.svc.cluster.local', 'www.example.org']) {
      await askUdp(HOST, dns ?? 0, queryWith(1, name))
    }
    await api.create(changedSlice('seen-by-server'))
    await untilScraped(families, `http://${HOST}:${metrics}`, PROGRAMMING)
    assert.doesNotMatch(server.tail(), /cannot list|forbidden/)
  })

  test('the exporter leads and publishes with its rights, and the gateway serves', async () => {
    const keys = await createClusterKeys()
    const [reader, admin] = [await createToken(), await createToken()]
    const clusters = { test: { publicKey: keys.publicKey, tokenSha256: keys.tokenSha256 } }
    const gatewayUrl = `http://${HOST}:${await freePort()}`
    const corefile = write('gateway', corefileOf('gateway'))
    const gateway = run(
      ['gateway', '--conf', corefile, '--listen', gatewayUrl.slice(7), '--store', 'memory'],
      {
        CLUSTERS: JSON.stringify(clusters),
        READ_ONLY_TOKEN_SHA256: reader.sha256,
        CLIENT_TOKEN_SHA256: reader.sha256,
        ADMIN_TOKEN_SHA256: admin.sha256,
      },
    )
    await gateway.line(/^ready: /)
    const listen = `${HOST}:${await freePort()}`
    const [container] = Object(find('Deployment', 'exporter').spec).template.spec.containers
    const args = container.args.filter((arg: string) => /^(export$|--cluster)/.test(arg))
    const own = ['--gateway', gatewayUrl, '--listen', listen, '--conf', join(folder, 'exporter')]
    const config = await configOf('exporter')
    const exporter = run([...args, ...own, '--kubeconfig', config], {
      KUBEDOH_TOKEN: keys.token,
      KUBEDOH_SIGNING_KEY: keys.signingKey,
      KUBEDOH_LEASE: container.env.find(({ name }: { name: string }) => name === 'KUBEDOH_LEASE')
        .value,
    })
    await untilScraped(new Map(), `http://${listen}`, 'kubedoh_exporter_generation')
    await api.create(changedSlice('seen-by-exporter'))
    await untilScraped(families, `http://${listen}`, PROGRAMMING)
    assert.doesNotMatch(exporter.tail(), /cannot list|forbidden|ClusterRole/)
    const headers = { authorization: `Bearer ${reader.token}` }
    const path = 'resolve?name=web.shop.svc.cluster.local'
    await fetch(`${gatewayUrl}/${path}`, { headers })
    const operator = { authorization: `Bearer ${admin.token}` }
    const made = await fetch(`${gatewayUrl}/v1/tokens`, { method: 'POST', headers: operator })
    await fetch(`${gatewayUrl}/t/${Object(await made.json()).token}/${path}`)
    await untilScraped(families, gatewayUrl, 'coredns_dns_requests_total', headers)
  })

  test('the proportional autoscaler may read nodes and scale the server, and nothing else', async () => {
    const [server, parameters] = [
      find('Deployment', 'server'),
      find('ConfigMap', 'server-autoscaler'),
    ]
    for (const object of [server, parameters]) await api.create(object)
    const config = await configOf('server-autoscaler')
    const kubectl = (...args: readonly string[]) => {
      assert.ok(typeof binaries !== 'string')
      const all = ['kubectl', '--kubeconfig', config, '--namespace', 'kube-system', ...args]
      return spawnSync(binaries.kubernetes, all, { encoding: 'utf8' })
    }
    assert.equal(kubectl('get', 'nodes').status, 0)
    const { linear } = JSON.parse(
      kubectl('get', 'configmap', parameters.metadata.name, '-ojson').stdout,
    ).data
    assert.equal(JSON.parse(linear).preventSinglePointFailure, true)
    const path = `/apis/apps/v1/namespaces/kube-system/deployments/${server.metadata.name}/scale`
    const scale = JSON.parse(kubectl('get', '--raw', path).stdout)
    const changed = write('scale', JSON.stringify({ ...scale, spec: { replicas: 7 } }))
    assert.equal(kubectl('replace', '--raw', path, '-f', changed).status, 0)
    assert.equal(Object(await api.read(server)).spec.replicas, 7)
    const may = (...args: readonly string[]) => kubectl('auth', 'can-i', ...args).stdout.trim()
    assert.equal(may('watch', 'nodes'), 'yes')
    const refused = [
      'get secrets',
      'list configmaps',
      `update configmaps/${parameters.metadata.name}`,
    ]
    const more = [
      `update deployments.apps/${server.metadata.name}`,
      'delete nodes',
      'create configmaps',
    ]
    for (const one of [...refused, ...more]) assert.equal(may(...one.split(' ')), 'no', one)
    assert.equal(may('update', 'deployments.apps/coredns', '--subresource=scale'), 'no')
  })

  test('the node cache counts errors of its set-up', async () => {
    const [dns, metrics, health, setup] = await Promise.all([1, 2, 3, 4].map(() => freePort()))
    const template = Object(find('ConfigMap', 'node-cache').data)
      ['Corefile.base'].replaceAll(':53', `:${dns}`)
      .replaceAll(':9253', `${HOST}:${metrics}`)
      .replace(':8080', `:${health}`)
    const off = ['-setupinterface=false', '-setupiptables=false', `-dns.port=${dns}`]
    const files = ['-basecorefile', write('node', template), '-conf', join(folder, 'generated')]
    const listen = ['-metrics-listen-address', `${HOST}:${setup}`]
    const spec = Object(find('DaemonSet', 'node-cache').spec).template.spec
    const service = spec.containers[0].args.filter((arg: string) => arg.startsWith('-upstreamsvc'))
    const args = ['-localip', HOST, ...off, ...files, ...listen, ...service]
    const one = run(['node-cache', ...args], { KUBEDOH_NODE_CACHE_UPSTREAM_SERVICE_HOST: HOST })
    await one.line(/^ready: /)
    await untilScraped(families, `http://${HOST}:${setup}`, 'coredns_nodecache_setup_errors_total')
    await untilScraped(families, `http://${HOST}:${metrics}`, 'coredns_cache_entries')
    assert.equal((await fetch(`http://${HOST}:${health}/health`)).status, 200)
  })

  test.skipIf(noNginx)('the router reloads the nginx of its pod, with its rights', async () => {
    const place = join(folder, 'nginx')
    mkdirSync(place)
    const [port, status] = await Promise.all([freePort(), freePort()])
    const { containers } = Object(find('Deployment', 'router').spec).template.spec
    const [router, nginx] = containers
    const script = nginx.command.map((one: string) => one.replace('/run/kubedoh-router', place))
    const startNginx = (): Running => runProgram(script[0], script.slice(1))
    const first = startNginx()
    const replaced = [
      ...['--conf', write('router', corefileOf('router')), '--http', `${HOST}:${port}`],
      ...['--listen', `${HOST}:${status}`, '--folder', place],
      ...['--kubeconfig', await configOf('router')],
    ]
    const args = router.args.filter((one: string) => !/^--(conf|http|listen)=/.test(one))
    const kubedoh = run([...args, ...replaced], { KUBEDOH_NGINX: 'not-in-this-image' })
    const get = (host: string) => fetchFrom(port, `${host}.apps.example.org`, '/')
    const route = (host: string) =>
      hostRoute(`shop/${host}`, `${host}.apps.example.org`, '/ absent 80')
    await createOnce(api, route('one'))
    // Without its Service a path answers 503, unknown hosts 404.
    await becomes(() => get('one'), '503')
    await becomes(
      async () => (await conditionsOf(api, route('one'))).join(),
      'Routed False ServiceNotFound',
    )
    assert.equal(await get('other'), '404')
    await becomes(async () => `${(await fetch(`http://${HOST}:${status}/readyz`)).status}`, '200')
    await first.stop()
    // As an nginx that was killed leaves it.
    writeFileSync(join(place, 'nginx.sock'), '')
    startNginx()
    await becomes(() => get('one'), '503')
    await api.create(route('two'))
    await becomes(() => get('two'), '503')
    assert.doesNotMatch(kubedoh.tail(), /cannot|forbidden|ClusterRole/)
  })

  const expressions = [...alertExpressions(), ...dashboardExpressions()]
  for (const [where, all] of expressions) {
    test(`${where} has only metrics and labels that the processes export`, () => {
      for (const expression of all) {
        assert.deepEqual(unknownIn(expression, families), [], expression)
      }
    })
  }

  test('no alert waits for a quantile above the last bucket, which it cannot exceed', () => {
    const limits = alertExpressions().flatMap(([, all]) =>
      all.flatMap((expression) => [
        ...expression.matchAll(/histogram_quantile\([\s\S]*?(\w+_bucket)[\s\S]*> ([\d.]+)$/gm),
      ]),
    )
    assert.ok(limits.length > 2)
    for (const [, metric = '', limit] of limits) {
      assert.ok(Number(limit) < (lastBuckets.get(metric) ?? 0), `${metric} > ${limit}`)
    }
  })

  test('an expression with a metric or a label that nobody exports is found', () => {
    const metric = 'sum(rate(coredns_dns_request_total{type="A"}[5m]))'
    assert.deepEqual(unknownIn(metric, families), ['coredns_dns_request_total'])
    const labels = 'sum by (types) (coredns_dns_requests_total{protocol="tcp"})'
    assert.deepEqual(unknownIn(labels, families), ['types', 'protocol'])
  })
})

/** Returns a slice of the demo's Service `web` with the time of its change. */
function changedSlice(name: string): ApiObject {
  const time = new Date().toISOString()
  const metadata = {
    namespace: 'shop',
    name,
    labels: { 'kubernetes.io/service-name': 'web' },
    annotations: { 'endpoints.kubernetes.io/last-change-trigger-time': time },
  }
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata,
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.80'] }],
    ports: [],
  }
}

type Expressions = readonly (readonly [string, readonly string[]])[]

function alertExpressions(): Expressions {
  return readdirSync(join(CHART, 'alerts')).map((file) => {
    const { groups } = parse(readFileSync(join(CHART, 'alerts', file), 'utf8'))
    const rules = groups.flatMap((group: { rules: { expr: string }[] }) => group.rules)
    return [`alerts/${file}`, rules.map(({ expr }: { expr: string }) => expr)]
  })
}

function dashboardExpressions(): Expressions {
  return readDashboards().map((board) => [`dashboards/${board.name}`, queriesOf(board)])
}

/** Returns the metrics of an expression that no process exports, and the labels that none has. */
function unknownIn(expression: string, families: Families): string[] {
  const metrics = metricsOf(expression)
  const known = new Set([
    ...ADDED,
    ...metrics.flatMap((metric) => [...(families.get(metric) ?? [])]),
  ])
  const grouped = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = '']) =>
    names.split(/, */),
  )
  const matched = [...expression.matchAll(/(\w+)=~?"/g)].map(([, name = '']) => name)
  const isSampled = metrics.some((metric) => (families.get(metric)?.size ?? 0) > 0)
  const labels = isSampled ? [...grouped, ...matched] : []
  return [
    ...metrics.filter((metric) => !families.has(metric)),
    ...labels.filter((label) => label !== '' && !known.has(label)),
  ]
}

/** Scrapes until a metric exists, and adds what it finds. */
async function untilScraped(
  families: Families,
  url: string,
  metric: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const deadline = Date.now() + SCRAPES_MS
  for (;;) {
    const text = await fetch(`${url}/metrics`, { headers }).then(
      (response) => response.text(),
      () => '',
    )
    if (text.includes(`\n${metric}`)) return collect(families, text)
    if (Date.now() > deadline) throw new Error(`no ${metric} at ${url}:\n${text.slice(0, 500)}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

function collect(families: Families, text: string): void {
  const add = (name: string, labels: readonly string[]) => {
    const known = families.get(name) ?? new Set()
    for (const label of labels) known.add(label)
    families.set(name, known)
  }
  for (const [, name = '', type] of text.matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    const suffixes = type === 'histogram' ? ['_bucket', '_count', '_sum'] : ['']
    for (const suffix of suffixes) add(name + suffix, [])
  }
  for (const [, name = '', bound] of text.matchAll(/^(\w+_bucket)\{.*le="([\d.]+)"/gm)) {
    lastBuckets.set(name, Math.max(Number(bound), lastBuckets.get(name) ?? 0))
  }
  for (const [, name = '', labels = ''] of text.matchAll(/^([a-z_0-9]+)(?:\{(.*)\})? /gm)) {
    add(
      name,
      [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => label),
    )
  }
}
