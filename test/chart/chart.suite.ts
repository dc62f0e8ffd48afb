/**
 * The Helm chart: lint, the manifests rendered from it, and a real API server's opinion of them.
 * `UPDATE=1 npm run test:chart` writes deploy/manifests anew.
 * @module
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { type ApiObject, ApiServer } from '../cluster/api-server.ts'
import { KUBERNETES, prepareBinaries, prepareHelm } from '../cluster/binaries.ts'

const DEPLOY = join(import.meta.dirname, '../../deploy')
const CHART = join(DEPLOY, 'chart')
const NAMES = readdirSync(join(DEPLOY, 'values'))
/** Needs custom resources that the API server of this suite does not have. */
const CUSTOM = 'monitoring.coreos.com/v1'

const binaries = prepareBinaries()
if (typeof binaries === 'string') console.log(`skipped: the chart: ${binaries}`)

function helm(...args: readonly string[]): {
  status: number | null
  stdout: string
  stderr: string
} {
  return spawnSync(prepareHelm(), args, { encoding: 'utf8' })
}

function render(...args: readonly string[]): ReturnType<typeof helm> {
  const options = ['--namespace', 'kube-system', '--kube-version', KUBERNETES]
  return helm('template', 'kubedoh', CHART, ...options, ...args)
}

function objectsOf(manifest: string): ApiObject[] {
  const objects = parseAllDocuments(manifest).map((document) => document.toJS())
  return objects.filter((object) => object !== null)
}

describe.skipIf(typeof binaries === 'string')('the chart', () => {
  let api: ApiServer
  beforeAll(async () => {
    assert.ok(typeof binaries !== 'string')
    api = await ApiServer.start(binaries)
  })
  afterAll(() => api.stop())

  test('has nothing that lint finds', () => {
    const { status, stdout } = helm('lint', '--strict', CHART, '--namespace', 'kube-system')
    assert.equal(status, 0, stdout)
  })

  test('names the image of this version', () => {
    const { version } = JSON.parse(readFileSync(join(DEPLOY, '../package.json'), 'utf8'))
    const { stdout } = render()
    assert.ok(stdout.includes(`image: "localhost/kubedoh:${version}"`))
  })

  for (const name of NAMES) {
    test(`renders manifests/${name}`, () => {
      const { status, stdout, stderr } = render('--values', join(DEPLOY, 'values', name))
      assert.equal(status, 0, stderr)
      const path = join(DEPLOY, 'manifests', name)
      if (process.env.UPDATE === '1') writeFileSync(path, stdout)
      assert.equal(readFileSync(path, 'utf8'), stdout)
    })

    test(`has objects in ${name} that an API server accepts`, async () => {
      const objects = objectsOf(readFileSync(join(DEPLOY, 'manifests', name), 'utf8'))
      const checked = objects.filter(({ apiVersion }) => apiVersion !== CUSTOM)
      const skipped = objects.length - checked.length
      if (skipped > 0) console.log(`${name}: ${skipped} objects of ${CUSTOM} are not checked`)
      assert.ok(checked.length > 5)
      for (const object of checked) await api.check(object)
    })
  }

  test('grants the server Pods only if its Corefile needs them', () => {
    const rights = (corefile: string): unknown => {
      const { stdout } = render('--set', `server.corefile=${corefile}`)
      const role = objectsOf(stdout).find(({ kind }) => kind === 'ClusterRole')
      const [first] = Object(role).rules
      return first.resources
    }
    assert.deepEqual(rights('. { kubernetes a.test }'), ['services', 'namespaces'])
    const verified = '. { kubernetes a.test { pods verified } }'.replaceAll(/[{}]/g, '\\$&')
    assert.deepEqual(rights(verified), ['services', 'namespaces', 'pods'])
  })

  test('refuses unknown values, and kube-dns outside of kube-system', () => {
    assert.match(render('--set', 'server.replica=3').stderr, /replica/)
    const { stderr } = helm('template', 'a', CHART, '--kube-version', KUBERNETES)
    assert.match(stderr, /server\.service\.mode=join needs --namespace kube-system/)
    assert.match(render('--set', 'exporter.enabled=true').stderr, /exporter\.gateway is the URL/)
  })
})
