/**
 * What OpenShift's DNS operator makes of a DNS object, beside `kubedoh convert openshift`: the
 * operator's own template and golden Corefiles (from its Go module), and its CRD in a real API
 * server (from the Go module of OpenShift's API).
 * @module
 */

import { deepEqual, ok } from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { parse } from 'yaml'
import { NO_FILES } from '../../src/corefile/lexeme-stream.ts'
import { parseCorefile } from '../../src/corefile/parse-corefile.ts'
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import { formatName } from '../../src/dns/names/name.ts'
import { Settings } from '../../src/operators/convert/conversion.ts'
import { convertOpenshift } from '../../src/operators/convert/openshift.ts'
import { describeUnless } from '../describe-unless.ts'
import { type ApiObject, ApiServer } from '../real-cluster/api-server.ts'
import { prepareBinaries } from '../real-cluster/binaries.ts'
import { start } from '../real-cluster/processes.ts'
import { goModuleFolder } from './go-module.ts'
import { DNS_SPECS } from './openshift-specs.ts'

/** The newest version that the module proxy has. */
const OPERATOR = 'github.com/openshift/cluster-dns-operator@v0.0.0-20200529200012-f9e4dfc90c57'
const API = 'github.com/openshift/api@v0.0.0-20240124164020-e2ce40831f2e'
const CRD = 'operator/v1/0000_70_dns-operator_00.crd.yaml'
const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const CONFIG_MAP: ApiObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'openshift-dns', name: 'dns-default' },
}
const ATTEMPTS = 600
const SPECS = 300
const SEED = 20200529

/** A server of a DNS object. */
type Server = {
  readonly name: string
  readonly zones: readonly string[]
  readonly forwardPlugin: { readonly upstreams: readonly string[] }
}

const hostname = fc.stringMatching(/^[a-z]([a-z0-9-]{0,10}[a-z0-9])?(\.[a-z]{1,8}){0,3}$/)
const upstream = fc
  .tuple(fc.ipV4(), fc.option(fc.integer({ min: 1, max: 65535 })))
  .map(([address, port]) => (port === null ? address : `${address}:${port}`))
const anyServers: fc.Arbitrary<Server[]> = fc
  .uniqueArray(hostname, { minLength: 0, maxLength: 9 })
  .chain((zones) =>
    fc.tuple(fc.constant(zones), fc.array(upstream, { minLength: 9, maxLength: 9 })),
  )
  .map(([zones, upstreams]) =>
    Array.from({ length: Math.ceil(zones.length / 3) }, (_, i) => ({
      name: `server-${i}`,
      zones: zones.slice(3 * i, 3 * i + 3),
      forwardPlugin: { upstreams: upstreams.slice(3 * i, 3 * i + 1 + (i % 3)) },
    })),
  )

describe("OpenShift's DNS operator", () => {
  const specs = fc.sample(anyServers, { numRuns: SPECS, seed: SEED })
  let golden: readonly string[] = []
  let written: readonly string[] = []

  beforeAll(() => {
    const input = specs.map((servers) => ({
      ClusterDomain: 'cluster.example',
      Servers: servers.map(({ name, zones, forwardPlugin: { upstreams } }) => ({
        Name: name,
        Zones: zones,
        ForwardPlugin: { Upstreams: upstreams },
      })),
    }))
    const program = join(import.meta.dirname, 'operator.go')
    const args = ['run', program, goModuleFolder(OPERATOR)]
    const text = execFileSync('go', args, { encoding: 'utf8', input: JSON.stringify(input) })
    const read: { readonly golden: readonly string[]; readonly written: readonly string[] } =
      JSON.parse(text)
    golden = read.golden
    written = read.written
  })

  it('has golden Corefiles that are valid here', () => {
    ok(golden.length > 0)
    for (const corefile of golden) ok(routesOf(corefile).length > 1, corefile)
  })

  it('sends the same zones to the same upstreams as the converted Corefile', () => {
    const some = specs.filter((servers) => servers.length > 0)
    ok(some.length > SPECS / 2)
    deepEqual(
      specs.map((servers) => routesOf(convert({ servers }))),
      written.map(routesOf),
    )
    process.stdout.write(`DNS objects compared with the operator's template: ${SPECS}\n`)
  })
})

const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false

describeUnless(skip, "OpenShift's CRD in a real API server", () => {
  let api: ApiServer

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    const crd: ApiObject = parse(readFileSync(join(goModuleFolder(API), CRD), 'utf8'))
    await api.create(crd)
    const first = dnsObject('first', {})
    while (!(await isTaken(first))) await new Promise((resolve) => setTimeout(resolve, 100))
  })

  afterAll(async () => await api?.stop())

  async function isTaken(object: ApiObject): Promise<boolean> {
    return await api.create(object).then(
      () => true,
      () => false,
    )
  }

  it('applies the DNS object of a cluster as it changes', async () => {
    for (const name of ['openshift-config', 'openshift-dns']) {
      await api.create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
    const dns = dnsObject('default', { cache: { positiveTTL: '60s' } })
    await api.create(dns)
    const kubeconfig = ['--kubeconfig', api.adminConfig]
    const operator = start(KUBEDOH, ['openshift', ...kubeconfig])
    try {
      await operator.line(/^ready: ConfigMap openshift-dns\/dns-default has the Corefile$/)
      await untilCorefile(api, 'cache 60 {')
      await api.patch(dns, { spec: { cache: { positiveTTL: '90s' } } })
      await untilCorefile(api, 'cache 90 {')
      await api.patch(CONFIG_MAP, { data: { Corefile: 'edited' } })
      await untilCorefile(api, 'cache 90 {')
    } finally {
      await operator.stop()
    }
  })

  it('takes and refuses what convert openshift takes and refuses', async () => {
    const wrong: string[] = []
    let taken = 0
    for (const [i, spec] of DNS_SPECS.entries()) {
      const isValid = await isTaken(dnsObject(`dns-${i}`, spec))
      if (isValid) taken++
      const refusal = refusalOf(spec)
      if (isValid === (refusal === undefined)) continue
      wrong.push(`${JSON.stringify(spec)}: ${refusal ?? 'converted'}`)
    }
    process.stdout.write(`DNS objects: ${taken} taken, ${DNS_SPECS.length - taken} refused\n`)
    deepEqual(wrong, [])
  })
})

async function untilCorefile(api: ApiServer, wanted: string): Promise<void> {
  for (let i = 0; i < ATTEMPTS; i++) {
    const { data } = recordOf(await api.read(CONFIG_MAP))
    if (String(recordOf(data).Corefile).includes(wanted)) return
    await sleep(50)
  }
  throw new Error(`the ConfigMap never had ${wanted}`)
}

function dnsObject(name: string, spec: object): ApiObject {
  return { apiVersion: 'operator.openshift.io/v1', kind: 'DNS', metadata: { name }, spec }
}

function convert(spec: object): string {
  const settings = new Settings(['domain=cluster.example'])
  return convertOpenshift([dnsObject('default', spec)], settings).corefile
}

function refusalOf(spec: object): string | undefined {
  try {
    convert(spec)
    return undefined
  } catch (error) {
    return String(error)
  }
}

/** Returns who answers which zones: keys, and the arguments of `kubernetes` and `forward`. */
function routesOf(corefile: string): string[] {
  return parseCorefile(corefile, 'Corefile', NO_FILES)
    .map(({ keys, directives }) => {
      const zones = keys.map(({ zone, port }) => `${formatName(zone)}:${port}`)
      const routes = directives.filter(({ name }) => ['forward', 'kubernetes'].includes(name))
      const texts = routes.map(({ name, args }) =>
        [name, ...args.map(({ text }) => text)].join(' '),
      )
      return [...zones, ...texts].join(' ')
    })
    .filter((route) => !route.startsWith('hostname.bind.'))
}
