/**
 * Values that a chart gets in practice: null, indented Corefiles, names of releases of any length.
 * @module
 */
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, test } from 'vitest'
import { parse } from 'yaml'
import { describeUnless } from '../describe-unless.ts'
import { KUBERNETES, prepareBinaries } from '../real-cluster/binaries.ts'
import { CHART, DEPLOY, helm, objectsOf, render, VALUES } from './helm.ts'

const binaries = prepareBinaries()
const ALL = [
  ...['--values', join(DEPLOY, 'values/everything.yaml')],
  ...['--values', join(VALUES, 'router-ipv6.yaml')],
  ...['--set', 'server.enabled=true,nodeCache.enabled=true,server.proportional.enabled=true'],
]
const IMAGE = { digest: `sha256:${'0'.repeat(64)}`, pullSecrets: ['registry'] }
/** Values that an earlier chart had too: all others may be missing after `--reuse-values`. */
const REQUIRED = [
  'image.repository image.tag image.digest image.pullPolicy image.pullSecrets',
  'server.enabled server.replicas server.service server.corefile server.autoscaling',
  'server.proportional server.service.mode server.service.clusterIP',
  'server.autoscaling.cpuPercent exporter.enabled exporter.replicas exporter.gateway',
  'exporter.cluster exporter.secretName exporter.corefile gateway.enabled gateway.corefile',
  'gateway.tlsSecretName gateway.variablesSecretName gateway.service gateway.service.type',
  'gateway.storage gateway.metricsSecretName gateway.serverName gateway.caSecretName',
  'router.enabled router.kind router.corefile router.replicas router.nginxImage',
  'router.addresses router.service nodeCache.enabled nodeCache.addresses nodeCache.corefile',
  'networkPolicy.enabled monitoring.serviceMonitor monitoring.prometheusRule',
  'monitoring.dashboards monitoring.labels monitoring.dashboardLabels',
].flatMap((line) => line.split(' '))
const SERVICE_NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/

describeUnless(typeof binaries === 'string' && binaries, 'odd values of the chart', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-values-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  const releaseOf = (name: string) => {
    const options = ['--namespace', 'kube-system', '--kube-version', KUBERNETES]
    return helm('template', name, CHART, ...options, ...ALL)
  }

  test('null is refused by the name of the value, or means nothing', () => {
    const values: Readonly<Record<string, object>> = parse(
      readFileSync(join(CHART, 'values.yaml'), 'utf8'),
    )
    const paths = Object.entries(values).flatMap(([part, fields]) => [
      ...(part === 'image' ? [] : [part]),
      ...Object.keys(fields).map((field) => `${part}.${field}`),
    ])
    for (const path of REQUIRED) {
      const { stderr } = render(...ALL, '--set', `${path}=null`)
      assert.match(stderr, new RegExp(`missing property '${path.split('.').at(-1)}'`), path)
    }
    const isPart = (path: string) => !path.includes('.')
    const free = paths.filter((path) => !REQUIRED.includes(path))
    for (const group of [free.filter((path) => !isPart(path)), free.filter(isPart)]) {
      assert.ok(group.length > 8)
      const { status, stderr } = render(...ALL, '--set', group.map((one) => `${one}=null`).join())
      assert.equal(status, 0, stderr)
    }
    assert.match(render('--set', 'image=null').stderr, /image\.repository is the name/)
  })

  test('a Corefile stays as it is, also indented or with lines before it', () => {
    const texts = [
      '  .:53 {\n    errors\n  }\n# end\n',
      '\n\n   # a\n.:53 {\n}\n',
      '.:53 {\n\terrors  \n}',
    ]
    for (const text of texts) {
      const path = join(folder, 'Corefile')
      writeFileSync(path, text)
      const files = ['server', 'exporter', 'gateway', 'router', 'nodeCache'].flatMap((part) => [
        '--set-file',
        `${part}.corefile=${path}`,
      ])
      const { status, stdout, stderr } = render(...ALL, ...files)
      assert.equal(status, 0, stderr)
      const found = objectsOf(stdout).flatMap(({ data = {} }) =>
        ['Corefile', 'Corefile.base'].flatMap((key) => Object(data)[key] ?? []),
      )
      assert.deepEqual(found, [text, text, text, text, text])
    }
  })

  test('pods take a place, annotations, variables and volumes beside those of the chart', () => {
    const pod = {
      nodeSelector: { 'node-role/infra': '' },
      tolerations: [{ key: 'infra', operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
      annotations: { 'sidecar.istio.io/inject': 'false' },
      env: [{ name: 'KUBEDOH_SLOW_TURNS', value: 'log' }],
      volumes: [{ name: 'zones', configMap: { name: 'zones' } }],
      volumeMounts: [{ name: 'zones', mountPath: '/zones' }],
    }
    const parts = ['server', 'exporter', 'gateway', 'router', 'nodeCache']
    const values = { ...Object.fromEntries(parts.map((part) => [part, { pod }])), image: IMAGE }
    Object.assign(values, { nodeCache: { pod, image: 'cache@sha256:1' } })
    const path = join(folder, 'values.json')
    writeFileSync(path, JSON.stringify(values))
    const { status, stdout, stderr } = render(...ALL, '--values', path)
    assert.equal(status, 0, stderr)
    const templates = objectsOf(stdout).flatMap(({ spec = {} }) => Object(spec).template ?? [])
    assert.equal(templates.length, 6)
    for (const { metadata, spec } of templates) {
      assert.equal(spec.nodeSelector['node-role/infra'], '')
      assert.equal(spec.nodeSelector['kubernetes.io/os'], 'linux')
      assert.deepEqual(spec.tolerations.at(-1), pod.tolerations[0])
      assert.deepEqual(spec.affinity, pod.affinity)
      assert.deepEqual(spec.imagePullSecrets, [{ name: 'registry' }])
      const [{ name, image, env, volumeMounts }] = spec.containers
      // The autoscaler is another project's, and goes where the server goes.
      if (name === 'autoscaler') continue
      assert.match(image, /^localhost\/kubedoh:[^@]+@sha256:0{64}$|^cache@sha256:1$/)
      assert.equal(metadata.annotations['sidecar.istio.io/inject'], 'false')
      assert.deepEqual(spec.volumes.at(-1), pod.volumes[0])
      assert.deepEqual(env.at(-1), pod.env[0])
      assert.deepEqual(volumeMounts.at(-1), pod.volumeMounts[0])
    }
    const cache = templates.find(({ spec }) => spec.hostNetwork === true)
    assert.equal(cache.spec.containers[0].image, 'cache@sha256:1')
  })

  test('Services have valid names for each name of a release', () => {
    for (const name of ['a', 'a'.repeat(53), `${'a'.repeat(42)}-${'b'.repeat(10)}`]) {
      const { status, stdout, stderr } = releaseOf(name)
      assert.equal(status, 0, stderr)
      const services = objectsOf(stdout).filter(({ kind }) => kind === 'Service')
      assert.ok(services.length > 6)
      for (const { metadata } of services) assert.match(metadata.name, SERVICE_NAME)
    }
    for (const name of ['1kubedoh', 'kube.doh']) {
      assert.match(releaseOf(name).stderr, /must begin with a letter and have no dots/)
    }
  })
})
