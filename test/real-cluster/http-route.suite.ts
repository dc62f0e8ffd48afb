/**
 * `kubedoh router gateway-api` for a real API server with the Gateway API's own schema. Run by
 * `npm run test:cluster`.
 * @module
 */
import { deepEqual, equal } from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { parse } from 'yaml'
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import { ROUTE_DEFINITION } from '../cluster/host-route-cases.ts'
import { describeUnless } from '../describe-unless.ts'
import { goModuleFolder } from '../foreign/go-module.ts'
import { type ApiObject, ApiServer } from './api-server.ts'
import { prepareBinaries } from './binaries.ts'
import { GATEWAY_API, namespace, RIGHTS, service } from './objects.ts'
import { type Running, start } from './processes.ts'
import { becomes, conditionsOf, createOnce, hostRoute, ROUTER_RULES } from './routing.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const MODULE = 'sigs.k8s.io/gateway-api@v1.2.1'
const CRD = `config/crd/standard/${GATEWAY_API}_httproutes.yaml`
const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false
const WRITES = {
  apiGroups: [GATEWAY_API],
  resources: ['httproutes'],
  verbs: ['get', 'create', 'update', 'delete'],
}

describeUnless(skip, 'kubedoh router gateway-api', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-http-routes-'))
  let api: ApiServer
  let router: Running

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    const [role, ...bindings] = RIGHTS
    const rules = [...(Array.isArray(role?.rules) ? role.rules : []), ...ROUTER_RULES, WRITES]
    const crd = parse(readFileSync(join(goModuleFolder(MODULE), CRD), 'utf8'))
    const all = [{ ...role, rules } as ApiObject, ...bindings, namespace('shop'), crd]
    for (const object of [...all, ROUTE_DEFINITION as ApiObject]) await api.create(object)
    await api.create(service('shop/web'))
    await createOnce(api, hostRoute('shop/www', 'www.a.test', '/ web 80', '/cart web 80'))
    await createOnce(api, httpRoute('taken'))
    const conf = join(folder, 'Corefile')
    const options = 'resources HostRoute\n recordZones shop a.test\n router Gateway infra/web\n'
    writeFileSync(conf, `a.test {\n k8s_gateway {\n ${options} }\n}\n`)
    const args = ['--conf', conf, '--kubeconfig', api.exporterConfig]
    router = start(KUBEDOH, ['router', 'gateway-api', ...args])
    await router.line(/^ready: 1 hosts with 2 paths are routed$/)
  })

  afterAll(async () => {
    await router?.stop()
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('writes an HTTPRoute that the Gateway API accepts, and follows the HostRoute', async () => {
    const object = hostRoute('shop/www', 'www.a.test')
    await becomes(async () => (await conditionsOf(api, object)).join(), 'Routed True Routed')
    deepEqual(await pathsOf('www'), ['/', '/cart stripped'])
    await api.patch(object, { spec: { paths: [{ path: '/x', service: 'web', port: 80 }] } })
    await becomes(async () => (await pathsOf('www')).join(), '/x stripped')
    const { metadata, spec } = recordOf(await api.read(httpRoute('www')))
    // A default that the API server added would be a difference, which is written again and again.
    deepEqual(spec, {
      parentRefs: [{ group: GATEWAY_API, kind: 'Gateway', namespace: 'infra', name: 'web' }],
      hostnames: ['www.a.test'],
      rules: [
        {
          matches: [{ path: { type: 'PathPrefix', value: '/x' } }],
          filters: [
            {
              type: 'URLRewrite',
              urlRewrite: { path: { type: 'ReplacePrefixMatch', replacePrefixMatch: '/' } },
            },
          ],
          backendRefs: [{ group: '', kind: 'Service', name: 'web', port: 80, weight: 1 }],
        },
      ],
    })
    const [owner] = recordOf(metadata).ownerReferences as { kind: string; name: string }[]
    deepEqual([owner?.kind, owner?.name], ['HostRoute', 'www'])
    await api.delete(httpRoute('www'))
    await createOnce(api, hostRoute('shop/more', 'more.a.test', '/ web 80'))
    await becomes(async () => (await pathsOf('www').catch(() => ['gone'])).join(), '/x stripped')
    await api.patch(object, { spec: { host: 'b.test' } })
    await becomes(async () => (await pathsOf('www').catch(() => ['gone'])).join(), 'gone')
  })

  it('leaves an HTTPRoute with another owner as it is', async () => {
    const object = hostRoute('shop/taken', 'taken.a.test', '/ web 80')
    await api.create(object)
    await becomes(async () => (await conditionsOf(api, object)).join(), 'Routed False Conflict')
    equal((await pathsOf('taken')).join(), '/foreign')
  })

  /** Returns the paths of an HTTPRoute. */
  async function pathsOf(name: string): Promise<string[]> {
    const { rules } = recordOf(recordOf(await api.read(httpRoute(name))).spec)
    return (Array.isArray(rules) ? rules : []).map((rule) => {
      const { filters, matches } = rule as {
        filters?: unknown
        matches: [{ path: { value: string } }]
      }
      return `${matches[0].path.value}${filters === undefined ? '' : ' stripped'}`
    })
  }
})

function httpRoute(name: string): ApiObject {
  const rules = [{ matches: [{ path: { type: 'PathPrefix', value: '/foreign' } }] }]
  const metadata = { name, namespace: 'shop' }
  return { apiVersion: `${GATEWAY_API}/v1`, kind: 'HTTPRoute', metadata, spec: { rules } }
}
