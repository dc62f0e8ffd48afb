/**
 * What each switch of the chart adds, and which rights follow from a Corefile.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { parse } from 'yaml'
import { HOST_SOURCES } from '../../src/cluster/objects/host-sources.ts'
import { HOST_RESOURCES } from '../../src/corefile/cluster-tree.ts'
import { describeUnless } from '../describe-unless.ts'
import type { ApiObject } from '../real-cluster/api-server.ts'
import { prepareBinaries } from '../real-cluster/binaries.ts'
import { CHART, objectsOf, objectsWith, render } from './helm.ts'

const binaries = prepareBinaries()

const EXPORTER = [
  'exporter.enabled=true',
  'exporter.gateway=https://gateway.test',
  'exporter.cluster=a',
]
const OFF = 'server.enabled=false'
const ROUTER = ['router.enabled=true', 'router.corefile=k8s_gateway']
const GATEWAY_API = [...ROUTER, 'router.kind=gateway-api']
const ALL = [...EXPORTER, ...ROUTER, 'gateway.enabled=true', 'nodeCache.enabled=true']
const PARTS = ['server', 'exporter', 'gateway', 'router', 'nodeCache']
const RIGHTS = ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding']

/** Switches, and the kinds that they add to the chart without any component. */
const SWITCHES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ['nothing', [OFF], []],
  ['the server', [], [...RIGHTS, 'ConfigMap', 'Service', 'PodDisruptionBudget', 'Deployment']],
  [
    'the exporter',
    [OFF, ...EXPORTER],
    [...RIGHTS, 'Role', 'RoleBinding', 'Service', 'PodDisruptionBudget', 'Deployment'],
  ],
  [
    'the gateway',
    [OFF, 'gateway.enabled=true'],
    ['ConfigMap', 'PersistentVolumeClaim', 'Service', 'Deployment'],
  ],
  [
    'the node cache',
    [OFF, 'nodeCache.enabled=true'],
    ['ConfigMap', 'Service', 'Service', 'DaemonSet'],
  ],
  [
    'the router with nginx',
    [OFF, ...ROUTER],
    [...RIGHTS, 'ConfigMap', 'Service', 'Service', 'PodDisruptionBudget', 'Deployment'],
  ],
  [
    'the router for the Gateway API',
    [OFF, ...GATEWAY_API],
    [...RIGHTS, 'ConfigMap', 'Service', 'Deployment'],
  ],
]

/** Switches, and the kinds that they add to all components. */
const ADDED: readonly (readonly [string, readonly string[]])[] = [
  ['monitoring.serviceMonitor=true', ['ServiceMonitor']],
  [
    'monitoring.serviceMonitor=true,gateway.metricsSecretName=a,gateway.serverName=b',
    ['ServiceMonitor', 'ServiceMonitor'],
  ],
  ['monitoring.prometheusRule=true', ['PrometheusRule']],
  ['monitoring.dashboards=true', ['ConfigMap', 'ConfigMap', 'ConfigMap']],
  ['server.autoscaling.enabled=true', ['HorizontalPodAutoscaler']],
  [
    'server.proportional.enabled=true',
    'ServiceAccount ClusterRole ClusterRoleBinding Role RoleBinding ConfigMap Deployment'.split(
      ' ',
    ),
  ],
  ['networkPolicy.enabled=true', Array.from({ length: 4 }, () => 'NetworkPolicy')],
]

/** Corefiles, and the resources that the server may read beyond Services, Namespaces and slices. */
const CASES: readonly (readonly [string, readonly string[]])[] = [
  ['kubernetes a.test', []],
  ['kubernetes a.test { pods insecure }', []],
  ['kubernetes a.test { pods verified }', ['pods']],
  ['autopath @kubernetes', ['pods']],
  ['kubernetes a.test b.test { multicluster b.test }', ['serviceimports']],
  ['k8s_gateway b.test', ['ingresses']],
  ['k8s_gateway b.test { ttl 30 }', ['ingresses']],
  ['k8s_gateway b.test { resources Service }', []],
  ['k8s_gateway b.test { resources httproute }', ['gateways', 'httproutes']],
  ['k8s_gateway b.test { resources Node DNSRecord }', ['dnsrecords', 'nodes']],
  ['k8s_gateway b.test { resources Node }\n k8s_gateway c.test', ['ingresses', 'nodes']],
  ['k8s_gateway b.test { resources Route }', ['routes']],
  ['k8s_gateway b.test { resources HostRoute\n router Gateway a/b }', ['gateways', 'hostroutes']],
  ['k8s_external b.test', []],
  ['# pods verified; multicluster\n kubernetes a.test # or autopath', []],
]

describeUnless(typeof binaries === 'string' && binaries, 'switches of the chart', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-chart-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  const withCorefile = (component: string, text: string, ...values: string[]): ApiObject[] => {
    const path = join(folder, 'Corefile')
    writeFileSync(path, text)
    const set = values.flatMap((value) => ['--set', value])
    const { status, stdout, stderr } = render('--set-file', `${component}.corefile=${path}`, ...set)
    assert.equal(status, 0, stderr)
    return objectsOf(stdout)
  }

  for (const [name, values, kinds] of SWITCHES) {
    test(`${name} has the kinds it needs`, () => {
      assert.deepEqual(kindsOf(objectsWith(...values)), kinds.toSorted())
    })
  }

  for (const [value, kinds] of ADDED) {
    test(`${value} adds ${[...new Set(kinds)].join(', ')}`, () => {
      const added = kindsOf([...objectsWith(...ALL), ...kinds.map((kind) => ({ kind }))])
      assert.deepEqual(kindsOf(objectsWith(...ALL, value)), added)
    })
  }

  for (const [corefile, resources] of CASES) {
    test(`the server may read what it needs for: ${corefile}`, () => {
      const objects = withCorefile('server', `. {\n ${corefile}\n}\n`)
      const base = ['endpointslices', 'namespaces', 'services']
      assert.deepEqual(readable(objects, 'server'), [...base, ...resources].toSorted())
    })
  }

  test('the exporter writes Events and conditions only with k8s_gateway', () => {
    const writes = (text: string) =>
      rulesOf(withCorefile('exporter', text, ...EXPORTER, OFF), 'exporter')
        .filter(({ verbs }) => !verbs.includes('list'))
        .flatMap(({ resources, verbs }) => `${verbs} ${resources}`)
    assert.deepEqual(writes('. { kubernetes a.test }'), [])
    assert.deepEqual(writes('. { k8s_gateway a.test }'), ['create events'])
    const records = '. { k8s_gateway a.test { resources DNSRecord } }'
    assert.deepEqual(writes(records), ['update dnsrecords/status', 'create events'])
  })

  test('the exporter reads RBAC only to publish it', () => {
    const rbac = (...values: string[]) => {
      const objects = objectsWith(OFF, ...EXPORTER, ...values)
      const [deployment] = objects.filter(isKind('Deployment'))
      const { env } = podOf(deployment).containers[0]
      const rules = rulesOf(objects, 'exporter').filter(({ resources }) => {
        return resources.includes('rolebindings')
      })
      return [env.some((one: { name: string }) => one.name === 'KUBEDOH_RBAC'), ...rules]
    }
    const resources = ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings']
    const apiGroups = ['rbac.authorization.k8s.io']
    const rule = { apiGroups, resources, verbs: ['list', 'watch'] }
    assert.deepEqual(rbac(), [false])
    assert.deepEqual(rbac('exporter.rbac=true'), [true, rule])
  })

  test('the router has no other rights, and writes HTTPRoutes only for a Gateway', () => {
    const rights = (...values: string[]) =>
      rulesOf(objectsWith(OFF, ...values), 'router').map(({ resources, verbs }) => {
        return `${resources} ${verbs}`
      })
    const own = ['services list,watch', 'hostroutes list,watch', 'hostroutes/status update']
    assert.deepEqual(rights(...ROUTER), own)
    assert.deepEqual(rights(...GATEWAY_API), [...own, 'httproutes get,create,update,delete'])
    assert.match(render('--set', 'router.enabled=true').stderr, /router\.corefile has recordZones/)
  })

  test("the router's nginx is of the same user and process namespace, without capabilities", () => {
    const [deployment] = objectsWith(OFF, ...ROUTER).filter(isKind('Deployment'))
    const { shareProcessNamespace, securityContext, containers } = podOf(deployment)
    assert.deepEqual([shareProcessNamespace, securityContext.runAsUser], [true, 65532])
    assert.deepEqual(containers[1].securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    const [alone] = objectsWith(OFF, ...GATEWAY_API).filter(isKind('Deployment'))
    assert.deepEqual([podOf(alone).containers.length, Object(alone?.spec).replicas], [1, 1])
  })

  test('exporter and Prometheus trust the authority of gateway.caSecretName', () => {
    const monitored = ['gateway.metricsSecretName=a', 'gateway.serverName=b']
    const trusts = (...values: string[]) => {
      const on = [...EXPORTER, 'gateway.enabled=true', 'monitoring.serviceMonitor=true']
      const objects = objectsWith(OFF, ...on, ...monitored, ...values)
      const [exporter] = objects.filter(isKind('Deployment')).map(podOf)
      const monitor = objects.findLast(isKind('ServiceMonitor'))
      const [{ tlsConfig }] = Object(monitor?.spec).endpoints
      const { secret } = Object(exporter.volumes.find(isNamed('ca')))
      const { env } = exporter.containers[0]
      const own = env.find(({ name }: { name: string }) => name === 'KUBEDOH_CA')?.value
      return [own, secret?.secretName, tlsConfig.ca?.secret.name]
    }
    assert.deepEqual(trusts(), [undefined, undefined, undefined])
    const ca = ['/etc/kubedoh-ca/ca.crt', 'authority', 'authority']
    assert.deepEqual(trusts('gateway.caSecretName=authority'), ca)
  })

  test('the gateway has no ServiceAccount token', () => {
    const [deployment] = objectsWith(OFF, 'gateway.enabled=true').filter(isKind('Deployment'))
    assert.equal(podOf(deployment).automountServiceAccountToken, false)
  })

  test('rights.yaml has the group and resource of each kind that k8s_gateway reads', () => {
    const rows = parse(readFileSync(join(CHART, 'rights.yaml'), 'utf8'))
    for (const kind of HOST_RESOURCES) {
      if (kind === 'Service') continue
      const { group, resource } = HOST_SOURCES[kind]
      const found = rows.find((row: { host?: string; only?: string }) => {
        return row.host === kind && row.only === undefined
      })
      const rule = { apiGroups: [group], resources: [resource], verbs: ['list', 'watch'] }
      if (kind === 'Gateway') assert.ok(rows.some(hasRule(rule)))
      else assert.deepEqual(found?.rule, rule, kind)
    }
  })

  test('the schema has each value, and the keys of pods in each component', () => {
    const { properties } = JSON.parse(readFileSync(join(CHART, 'values.schema.json'), 'utf8'))
    const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8'))
    for (const [part, fields] of Object.entries<object>(values)) {
      assert.ok(part in properties, part)
      for (const name of Object.keys(fields)) assert.ok(name in properties[part].properties, name)
    }
    const names = Object.keys(values.server)
    const pods = [...names.slice(names.indexOf('extraArgs')), 'extraEnv', 'pdb', 'pod']
    assert.ok(pods.length > 25)
    for (const part of PARTS) {
      const known = properties[part].properties
      assert.deepEqual(
        Object.keys(known).toSorted(),
        [...new Set([...Object.keys(values[part]), ...pods])].toSorted(),
        part,
      )
    }
  })

  test('autoscaling replaces the number of replicas, and refuses an empty range', () => {
    const spec = (...values: string[]) =>
      Object(objectsWith(...values).findLast(isKind('Deployment'))?.spec)
    assert.equal(spec('server.replicas=4').replicas, 4)
    assert.ok(!('replicas' in spec('server.autoscaling.enabled=true')))
    assert.ok(!('replicas' in spec('server.proportional.enabled=true')))
    const refusal = (values: string) => render('--set', values).stderr
    const cpu = 'server.autoscaling.enabled=true'
    const range = `${cpu},server.autoscaling.minReplicas=11`
    assert.match(refusal(range), /minReplicas is greater than maxReplicas/)
    const nodes = 'server.proportional.enabled=true'
    assert.match(refusal(`${cpu},${nodes}`), /would both set the number of replicas/)
    const linear = `${nodes},server.proportional.linear`
    assert.match(refusal(`${linear}.max=1`), /min is greater than max/)
    const none = `${linear}.coresPerReplica=0,server.proportional.linear.nodesPerReplica=0`
    assert.match(refusal(none), /needs coresPerReplica or nodesPerReplica/)
    assert.match(refusal(`${linear}.minReplicas=1`), /'minReplicas' not allowed/)
  })

  test('a NetworkPolicy opens exactly the ports of its pods', () => {
    const objects = objectsWith(...ALL, 'networkPolicy.enabled=true')
    for (const policy of objects.filter(isKind('NetworkPolicy'))) {
      const name = policy.metadata.name
      const pods = objects.find((one) => isKind('Deployment')(one) && one.metadata.name === name)
      const declared = podOf(pods).containers.flatMap(({ ports }: { ports: object[] }) =>
        ports.map((port) => `${Object(port).containerPort}/${Object(port).protocol}`),
      )
      const rules: { ports: { port: number; protocol: string }[] }[] = Object(policy.spec).ingress
      const open = rules.flatMap(({ ports }) => ports.map((one) => `${one.port}/${one.protocol}`))
      assert.deepEqual(open.toSorted(), declared.toSorted(), name)
    }
  })

  test('the node cache has root with two capabilities, and asks the servers behind the Service', () => {
    const objects = objectsWith('nodeCache.enabled=true')
    const { containers, ...spec } = podOf(objects.find(isKind('DaemonSet')))
    assert.equal(spec.hostNetwork, true)
    assert.equal(spec.automountServiceAccountToken, false)
    assert.deepEqual(containers[0].securityContext, {
      runAsUser: 0,
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { add: ['NET_ADMIN', 'NET_BIND_SERVICE'], drop: ['ALL'] },
    })
    const upstreamOf = (all: readonly ApiObject[]) =>
      all.find(({ metadata }) => metadata.name === 'kubedoh-node-cache-upstream')
    const selector = (all: readonly ApiObject[]) => Object(upstreamOf(all)?.spec).selector
    const { annotations = {} } = Object(upstreamOf(objects)?.metadata)
    assert.equal(annotations['helm.sh/resource-policy'], 'keep')
    assert.deepEqual(selector(objects), { 'k8s-app': 'kube-dns' })
    const own = objectsWith('nodeCache.enabled=true', 'server.service.mode=create')
    assert.equal(selector(own)['app.kubernetes.io/component'], 'server')
    const elsewhere = ['--namespace', 'dns', '--set', `${OFF},nodeCache.enabled=true`]
    assert.match(render(...elsewhere).stderr, /nodeCache needs --namespace kube-system/)
  })

  test('the alerts have all files, the namespace and the names of the release', () => {
    const monitoring = ['monitoring.prometheusRule=true', 'gateway.metricsSecretName=a']
    const rule = objectsWith(...ALL, ...monitoring).find(isKind('PrometheusRule'))
    const groups: { name: string; rules: { expr: string }[] }[] = Object(rule?.spec).groups
    const files = readdirSync(join(CHART, 'alerts')).map((file) => file.replace('.yaml', ''))
    assert.deepEqual(groups.map(({ name }) => name.replace('kubedoh-', '')).toSorted(), files)
    for (const { name, rules } of groups) {
      for (const { expr } of rules) {
        const jobs = expr.split('job="').length - 1
        assert.ok(jobs > 0)
        const renamed = expr.split(`namespace="kube-system",job="${name}"`).length - 1
        assert.equal(renamed, jobs, expr)
      }
    }
    const unscraped = objectsWith(...ALL, 'monitoring.prometheusRule=true')
    const text = JSON.stringify(unscraped.find(isKind('PrometheusRule')))
    assert.ok(!text.includes('KubedohGatewayDown'))
  })

  test('monitoring objects have the labels by which they are selected', () => {
    const on = ['serviceMonitor', 'prometheusRule', 'dashboards'].map(
      (one) => `monitoring.${one}=true`,
    )
    const objects = objectsWith(...on, 'monitoring.labels.release=prometheus')
    for (const kind of ['ServiceMonitor', 'PrometheusRule']) {
      const { labels } = Object(objects.find(isKind(kind))?.metadata)
      assert.equal(labels.release, 'prometheus')
    }
    const board = objects.find(({ metadata }) => metadata.name === 'kubedoh-server-dashboard')
    assert.equal(Object(board?.metadata).labels.grafana_dashboard, '1')
    const [text] = Object.values(Object(board).data)
    assert.equal(text, readFileSync(join(CHART, 'dashboards/server.json'), 'utf8'))
  })

  for (const component of ['server', 'exporter', 'gateway', 'router']) {
    test(`the ${component} runs with the least privileges`, () => {
      const deployment = objectsWith(...ALL)
        .filter(isKind('Deployment'))
        .find(({ metadata }) => metadata.name === `kubedoh-${component}`)
      const { securityContext, containers } = podOf(deployment)
      assert.equal(securityContext.runAsNonRoot, true)
      assert.deepEqual(securityContext.seccompProfile, { type: 'RuntimeDefault' })
      assert.deepEqual(containers[0].securityContext, {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { add: ['NET_BIND_SERVICE'], drop: ['ALL'] },
      })
    })
  }
})

type Rule = { readonly resources: string[]; readonly verbs: string[] }

function kindsOf(objects: readonly { readonly kind: string }[]): string[] {
  return objects.map(({ kind }) => kind).toSorted()
}

function isKind(kind: string): (object: ApiObject) => boolean {
  return (object) => object.kind === kind
}

function isNamed(name: string): (one: { name: string }) => boolean {
  return (one) => one.name === name
}

function podOf(object: ApiObject | undefined) {
  return Object(object?.spec).template.spec
}

function rulesOf(objects: readonly ApiObject[], component: string): Rule[] {
  const role = objects.find(
    ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name.endsWith(component),
  )
  return Object(role).rules
}

function readable(objects: readonly ApiObject[], component: string): string[] {
  const rules = rulesOf(objects, component)
  assert.ok(rules.every(({ verbs }) => verbs.join() === 'list,watch'))
  return rules.flatMap(({ resources }) => resources).toSorted()
}

function hasRule(rule: unknown): (row: { rule: unknown }) => boolean {
  return (row) => JSON.stringify(row.rule) === JSON.stringify(rule)
}
