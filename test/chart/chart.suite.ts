/**
 * The Helm charts: lint, the manifests rendered from them, and a real API server's opinion of each.
 * `UPDATE=1 npm run test:chart` writes deploy/manifests anew.
 *
 * The dry run is stricter than kubeconform, which knows the schemas only: it refuses unknown fields
 * too, and checks what validation in Go checks (ports, selectors, names, quantities).
 * @module
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { errorText } from '../../src/dns/bytes/unknown.ts'
import { describeUnless } from '../describe-unless.ts'
import { objectBlocks } from '../docs/pages.ts'
import { goModuleFolder } from '../foreign/go-module.ts'
import { type ApiObject, ApiServer } from '../real-cluster/api-server.ts'
import {
  KUBERNETES,
  prepareBinaries,
  prepareOperatorDefinitions,
} from '../real-cluster/binaries.ts'
import { CHART, COREDNS_VALUES, DEPLOY, helm, objectsOf, render, VALUES } from './helm.ts'

const NAMES = readdirSync(join(DEPLOY, 'values'))
const COREDNS_FILES = readdirSync(COREDNS_VALUES).filter((name) => name.endsWith('.yaml'))
const FILES = [
  ...NAMES.map((name) => join(DEPLOY, 'values', name)),
  ...readdirSync(VALUES).map((name) => join(VALUES, name)),
  ...COREDNS_FILES.map((name) => join(COREDNS_VALUES, name)),
]
const GATEWAY_API = 'sigs.k8s.io/gateway-api@v1.2.1'
const HTTP_ROUTES = 'config/crd/standard/gateway.networking.k8s.io_httproutes.yaml'
const CUSTOM = ['servicemonitors', 'prometheusrules']
const ALL_COMPONENTS = [
  'exporter.enabled=true',
  'exporter.gateway=https://gateway.test',
  'exporter.cluster=a',
  'gateway.enabled=true',
  'nodeCache.enabled=true',
  'router.enabled=true',
  'router.corefile=k8s_gateway',
]
/** Groups of objects on pages that the API server has without operators. */
const PAGE_GROUPS = /^(v1|(networking\.k8s\.io|rbac\.authorization\.k8s\.io|kubedoh\.dev)\/\w+)$/
const PAGE_RECORD = { zone: 'example.org', name: 'probe', type: 'A', values: ['192.0.2.1'] }
/** A new custom resource takes the API server a second or two. */
const SERVED_MS = 20_000

const binaries = prepareBinaries()

describeUnless(typeof binaries === 'string' && binaries, 'the chart', () => {
  let api: ApiServer
  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string')
    api = await ApiServer.start(binaries)
    const folder = prepareOperatorDefinitions()
    for (const resource of CUSTOM) {
      const path = join(folder, `monitoring.coreos.com_${resource}.yaml`)
      for (const object of objectsOf(readFileSync(path, 'utf8'))) await api.create(object)
    }
    const routes = join(goModuleFolder(GATEWAY_API), HTTP_ROUTES)
    for (const object of objectsOf(readFileSync(routes, 'utf8'))) await api.create(object)
    await untilServed(api, 'ServiceMonitor', { selector: {}, endpoints: [] })
    await untilServed(api, 'PrometheusRule', {})
    await untilServed(api, 'HTTPRoute', {}, 'gateway.networking.k8s.io/v1')
  })
  afterAll(() => api.stop())

  for (const chart of ['chart', 'crds']) {
    test(`lint finds nothing in ${chart}`, () => {
      const folder = join(DEPLOY, chart)
      const { status, stdout } = helm('lint', '--strict', folder, '--namespace', 'kube-system')
      assert.equal(status, 0, stdout)
    })
  }

  test('has the image and the charts of this version', () => {
    const { version } = JSON.parse(readFileSync(join(DEPLOY, '../package.json'), 'utf8'))
    assert.ok(render().stdout.includes(`image: localhost/kubedoh:${version}\n`))
    for (const chart of ['chart', 'crds']) {
      const { stdout } = helm('show', 'chart', join(DEPLOY, chart))
      assert.match(stdout, new RegExp(`^version: ${version}$`, 'm'))
    }
  })

  for (const name of NAMES) {
    test(`renders manifests/${name}`, () => {
      const { status, stdout, stderr } = render('--values', join(DEPLOY, 'values', name))
      assert.equal(status, 0, stderr)
      const path = join(DEPLOY, 'manifests', name)
      if (process.env.UPDATE === '1') writeFileSync(path, stdout)
      assert.equal(readFileSync(path, 'utf8'), stdout)
    })
  }

  test('is rendered with at least 30 value files', () => {
    assert.ok(FILES.length >= 30, `${FILES.length} files`)
  })

  for (const file of FILES) {
    test(`has only objects that an API server accepts: ${file.split('/').at(-1)}`, async () => {
      const { status, stdout, stderr } = render('--values', file)
      assert.equal(status, 0, stderr)
      for (const object of objectsOf(stdout)) await api.check(object)
    })
  }

  test('the notes have the next step of each component', () => {
    const notes = (...values: string[]): string => {
      const set = values.flatMap((value) => ['--set', value])
      const options = ['--namespace', 'kube-system', '--kubeconfig', api.adminConfig]
      const args = ['install', 'kubedoh', CHART, '--dry-run=server', ...options, ...set]
      const { status, stdout, stderr } = helm(...args)
      assert.equal(status, 0, stderr)
      return stdout.slice(stdout.indexOf('NOTES:'))
    }
    const all = notes(...ALL_COMPONENTS)
    for (const step of ['rollout status deployment/kubedoh-server', 'scale deployment/coredns']) {
      assert.ok(all.includes(step), all)
    }
    assert.ok(all.includes('router Service kube-system/kubedoh-router'), all)
    for (const step of ['--cluster-dns=169.254.20.10', 'kubedoh-exporter --from-literal=token=']) {
      assert.ok(all.includes(step), all)
    }
    assert.match(all, /kubedoh-gateway-tls .* kubedoh-gateway \(/)
    assert.doesNotMatch(notes('server.enabled=false'), /kubectl/)
    assert.doesNotMatch(notes('server.service.mode=create'), /coredns/)
  })

  test('keeps the number of servers when an autoscaler takes over', async () => {
    const options = ['--namespace', 'scaled', '--kubeconfig', api.adminConfig]
    const apply = async (...values: string[]): Promise<unknown> => {
      const set = ['server.service.mode=create', ...values].flatMap((value) => ['--set', value])
      const args = ['upgrade', '--install', 'kubedoh', CHART, '--create-namespace']
      const { status, stderr } = helm(...args, ...options, ...set)
      assert.equal(status, 0, stderr)
      const [found] = (await api.list('Deployment', 'apps/v1')) as {
        metadata: { namespace: string }
        spec: { replicas: number }
      }[]
      assert.equal(found?.metadata.namespace, 'scaled')
      return found?.spec.replicas
    }
    assert.equal(await apply('server.replicas=3'), 3)
    assert.equal(await apply('server.autoscaling.enabled=true'), 3)
    assert.equal(await apply('server.autoscaling.enabled=true', 'image.tag=x'), 3)
    assert.equal(helm('uninstall', 'kubedoh', ...options).status, 0)
  })

  test('keeps the Service when the servers join kube-dns, and when they leave it', async () => {
    const options = ['--namespace', 'kube-system', '--kubeconfig', api.adminConfig]
    const addressIn = async (mode: string): Promise<unknown> => {
      const args = ['upgrade', '--install', 'kubedoh', CHART, ...options]
      const { status, stderr } = helm(...args, '--set', `server.service.mode=${mode}`)
      assert.equal(status, 0, stderr)
      const services = (await api.list('Service', 'v1')) as {
        metadata: { name: string }
        spec: { clusterIP: string; ports: { name: string }[] }
      }[]
      const found = services.find(({ metadata }) => metadata.name === 'kubedoh-server')
      assert.deepEqual(
        found?.spec.ports.map(({ name }) => name),
        ['dns', 'dns-tcp', 'metrics'],
      )
      return found.spec.clusterIP
    }
    const address = await addressIn('create')
    assert.notEqual(address, 'None')
    assert.equal(await addressIn('join'), address)
    assert.equal(await addressIn('create'), address)
    assert.equal(helm('uninstall', 'kubedoh', ...options).status, 0)
  })

  test('has custom resources that an API server accepts', async () => {
    const version = ['--kube-version', KUBERNETES]
    const { stdout, stderr } = helm('template', 'crds', join(DEPLOY, 'crds'), ...version)
    assert.equal(stderr, '')
    const objects = objectsOf(stdout)
    assert.equal(objects.length, readdirSync(join(DEPLOY, 'crds/templates')).length)
    for (const object of objects) {
      await api.check(object)
      // Without its definition, the API server would delete each DNSRecord.
      assert.deepEqual(Object(object.metadata).annotations, { 'helm.sh/resource-policy': 'keep' })
    }
  })

  test('the objects on pages of docs are accepted', async () => {
    const version = ['--kube-version', KUBERNETES]
    const { stdout } = helm('template', 'crds', join(DEPLOY, 'crds'), ...version)
    for (const object of objectsOf(stdout)) await api.create(object)
    await untilServed(api, 'DNSRecord', PAGE_RECORD, 'kubedoh.dev/v1alpha1')
    for (const name of ['shop', 'infra', 'blog']) {
      await api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
    const objects = objectBlocks().flatMap(({ place, text }) =>
      objectsOf(text).map((object) => ({ place, object })),
    )
    const known = objects.filter(({ object }) => PAGE_GROUPS.test(object.apiVersion))
    assert.ok(known.length > 15, `${known.length} objects`)
    for (const { place, object } of known) {
      await api.check(object).catch((error) => assert.fail(`${place}: ${errorText(error)}`))
    }
  })

  test('a dry run refuses an unknown field, and an unknown value', async () => {
    const [first] = objectsOf(render().stdout)
    assert.ok(first !== undefined)
    await assert.rejects(api.check({ ...first, unknown: 1 }), /unknown field/)
    const spec = { maxUnavailable: 'one', selector: {} }
    await assert.rejects(api.check({ ...first, spec }), /maxUnavailable/)
  })

  test('refuses unknown values, and kube-dns outside of kube-system', () => {
    assert.match(render('--set', 'server.replica=3').stderr, /replica/)
    assert.match(helm('template', 'a', CHART, '--kube-version', '1.20.0').stderr, /kubeVersion/)
    const { stderr } = helm('template', 'a', CHART, '--kube-version', '1.34.0')
    assert.match(stderr, /server\.service\.mode=join needs --namespace kube-system/)
    // The exporter publishes over plain HTTP to its own machine only.
    assert.match(render('--set', 'exporter.gateway=http://a').stderr, /exporter.gateway/)
    assert.match(render('--set', 'exporter.enabled=true').stderr, /exporter\.gateway is the URL/)
  })
})

/** Waits until the API server takes objects of a custom resource. */
async function untilServed(
  api: ApiServer,
  kind: string,
  spec: unknown,
  apiVersion = 'monitoring.coreos.com/v1',
): Promise<void> {
  const metadata = { name: 'probe', namespace: 'kube-system' }
  const object: ApiObject = { apiVersion, kind, metadata, spec }
  const deadline = Date.now() + SERVED_MS
  for (;;) {
    const problem = await api.check(object).then(() => undefined, errorText)
    if (problem === undefined) return
    if (Date.now() > deadline) throw new Error(`${kind} is not served: ${problem}`)
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
