/**
 * Releases of the chart on a real API server, without nodes: values of other charts are installed,
 * those of an earlier chart are kept by `--reuse-values`, and pods change with what they cannot
 * reload.
 * @module
 */
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { GATEWAY_VARIABLES } from '../../src/gateway/config/config.ts'
import { describeUnless } from '../describe-unless.ts'
import { ApiServer } from '../real-cluster/api-server.ts'
import { prepareBinaries, prepareOperatorDefinitions } from '../real-cluster/binaries.ts'
import { CHART, COREDNS_VALUES, type HelmOutput, helm, objectsOf, VALUES } from './helm.ts'

const binaries = prepareBinaries()
const MONITORS = 'monitoring.coreos.com_servicemonitors.yaml'
const FORMER = join(import.meta.dirname, 'former-values.yaml')
/** Parts that a still earlier chart did not have. */
const NEWER_PARTS = ['router', 'nodeCache', 'monitoring', 'networkPolicy']

type Workload = {
  readonly metadata: { readonly name: string; readonly namespace: string }
  readonly spec: {
    readonly template: {
      readonly metadata: { readonly annotations?: Readonly<Record<string, string>> }
      readonly spec: { readonly containers: readonly { readonly image: string }[] }
    }
  }
}

describeUnless(typeof binaries === 'string' && binaries, 'releases of the chart', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-releases-'))
  let api: ApiServer
  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string')
    api = await ApiServer.start(binaries)
    const path = join(prepareOperatorDefinitions(), MONITORS)
    for (const object of objectsOf(readFileSync(path, 'utf8'))) await api.create(object)
  })
  afterAll(async () => {
    await api.stop()
    rmSync(folder, { recursive: true })
  })

  const run = (...args: readonly string[]): HelmOutput => {
    const options = ['--namespace', 'kube-system', '--kubeconfig', api.adminConfig]
    const output = helm(...args, ...options)
    assert.equal(output.status, 0, output.stderr)
    return output
  }
  const deploymentOf = async (name: string): Promise<Workload> => {
    const all = (await api.list('Deployment', 'apps/v1')) as Workload[]
    const found = all.find(({ metadata }) => metadata.name === name)
    assert.ok(found !== undefined, name)
    return found
  }
  /** Writes a chart whose values are those of an earlier one. */
  const formerChart = (...without: readonly string[]): string => {
    const path = join(folder, ['former', ...without].join('-'))
    cpSync(CHART, path, { recursive: true })
    rmSync(join(path, 'values.schema.json'))
    const values = parse(readFileSync(FORMER, 'utf8'))
    for (const part of without) delete values[part]
    writeFileSync(join(path, 'values.yaml'), stringify(values))
    return path
  }

  for (const file of readdirSync(COREDNS_VALUES).filter((name) => name.endsWith('.yaml'))) {
    test(`values for coredns/helm install as they are: ${file}`, async () => {
      const { stdout } = run('install', 'coredns', CHART, '--values', join(COREDNS_VALUES, file))
      assert.match(stdout, /Values of coredns\/helm are those of server here: .*servers/)
      await deploymentOf('coredns-server')
      run('uninstall', 'coredns')
    })
  }

  for (const without of [[], NEWER_PARTS]) {
    test(`--reuse-values keeps those of a chart without [${without}]`, async () => {
      const own = ['--set', 'server.pod.env[0].name=A,server.pod.env[0].value=b,image.tag=1.2.3']
      run('install', 'kubedoh', formerChart(...without), ...own)
      const { stdout } = run('upgrade', 'kubedoh', CHART, '--reuse-values')
      assert.match(
        stdout,
        /WARNING: server\.pod is of an earlier chart: its env is a key of server/,
      )
      const [container] = (await deploymentOf('kubedoh-server')).spec.template.spec.containers
      assert.equal(container?.image, 'localhost/kubedoh:1.2.3')
      assert.deepEqual(Object(container).env.at(-1), { name: 'A', value: 'b' })
      run('rollback', 'kubedoh')
      run('uninstall', 'kubedoh')
    })
  }

  test('the notes warn of names of an earlier chart, and only of those', () => {
    const dry = ['install', 'kubedoh', CHART, '--dry-run=server']
    const warnings = (...args: string[]) =>
      run(...dry, ...args)
        .stdout.slice(-4000)
        .split('\n')
        .filter((line) => line.startsWith('WARNING'))
        .map((line) => line.replace(/ (as|is) .*$/, ''))
    assert.deepEqual(warnings('--values', join(VALUES, 'former-names.yaml')), [
      'WARNING: server.pod',
      'WARNING: router.pod',
      'WARNING: nodeCache.pod',
      'WARNING: nodeCache.image',
      'WARNING: router.nginxImage',
      'WARNING: server.proportional.image',
    ])
    assert.deepEqual(warnings('--values', join(VALUES, 'pod-keys.yaml')), [])
  })

  test('pods of the gateway change with what they read of the Secret when they start', async () => {
    const metadata = { name: 'kubedoh-gateway', namespace: 'kube-system' }
    const on = ['--set', 'server.enabled=false,gateway.enabled=true']
    const sumOf = async (): Promise<string | undefined> => {
      run('upgrade', '--install', 'kubedoh', CHART, ...on)
      const { metadata: pods } = (await deploymentOf('kubedoh-gateway')).spec.template
      return pods.annotations?.['checksum/secret']
    }
    assert.equal(await sumOf(), undefined)
    const secret = { apiVersion: 'v1', kind: 'Secret', metadata }
    const reloaded = Object.fromEntries(GATEWAY_VARIABLES.map((name) => [name, '']))
    await api.create({ ...secret, stringData: { ...reloaded, KUBEDOH_REPLICA_TOKEN: 'a' } })
    const first = await sumOf()
    assert.match(String(first), /^[0-9a-f]{64}$/)
    for (const name of GATEWAY_VARIABLES) {
      await api.patch(secret, { stringData: { [name]: 'other' } })
    }
    assert.equal(await sumOf(), first)
    await api.patch(secret, { stringData: { KUBEDOH_REPLICA_TOKEN: 'b' } })
    assert.notEqual(await sumOf(), first)
    run('uninstall', 'kubedoh')
  })
})
