/**
 * What some documents walk through, on a real API server, etcd and nginx; each test has the name of
 * its document. Run by `npm run test:cluster`.
 * @module
 */
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { parse } from 'yaml'
import { startGateway } from '../../build/local-gateway.ts'
import { recordOf } from '../../src/dns/bytes/unknown.ts'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { findMissing } from '../clients/programs.ts'
import { COMPANY_ZONE } from '../corefiles/documents.ts'
import { describeUnless } from '../describe-unless.ts'
import { goModuleFolder } from '../foreign/go-module.ts'
import { freePort } from '../free-port.ts'
import { ApiServer } from './api-server.ts'
import { answerOf, type QuestionText } from './asking.ts'
import { prepareBinaries } from './binaries.ts'
import { Etcd } from './etcd.ts'
import { namespace, service, slice } from './objects.ts'
import { type Running, start } from './processes.ts'
import { becomes, createOnce, EchoService, fetchFrom } from './routing.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const OPENSHIFT_API = 'github.com/openshift/api@v0.0.0-20240124164020-e2ce40831f2e'
const DNS_CRD = 'operator/v1/0000_70_dns-operator_00.crd.yaml'
const REGISTRY = 'image-registry.openshift-image-registry.svc'
const MARKER = 'openshift-generated-node-resolver'
const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : findMissing('nginx')

const MINI_ZONE =
  'node1.com {\n  k8s_gateway {\n    resources HostRoute\n    recordZones default node1.com\n'

/** The object of the last document, as its API server takes it. */
const MINI = {
  kind: 'DNS',
  apiVersion: 'v1',
  name: 'dns-test1',
  host: 'node1.com',
  paths: [
    { address: '127.1.1.10', service: 'service1', port: 8010 },
    { address: '127.1.1.11', service: 'service2', port: 8011 },
  ],
}

describeUnless(skip, 'the walk-through of', () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-documents-'))
  const running: Running[] = []
  let api: ApiServer

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries, { serviceAddresses: '172.30.0.0/16' })
  })

  afterAll(async () => {
    for (const one of running.toReversed()) await one.stop()
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  /** Serves a Corefile. @returns a function that queries it */
  async function serve(
    corefile: string,
    ...args: readonly string[]
  ): Promise<{ port: number; ask: (question: QuestionText) => Promise<string[]> }> {
    const port = await freePort()
    const conf = join(folder, `Corefile-${port}`)
    writeFileSync(conf, corefile)
    const server = start(KUBEDOH, ['serve', '--conf', conf, '--dns.port', String(port), ...args])
    running.push(server)
    await server.line(/^ready/)
    return { port, ask: (question) => answerOf({ protocol: 'udp', port }, question) }
  }

  function block(naming = ''): string {
    return `bind 127.0.0.1\n  kubernetes cluster.local in-addr.arpa ip6.arpa {\n    kubeconfig ${api.adminConfig}\n    pods insecure\n    fallthrough in-addr.arpa ip6.arpa\n${naming}  }\n`
  }

  it("000_0207a39598c1aec2: OpenShift's DNS object and its node-resolver", async () => {
    await api.create(parse(readFileSync(join(goModuleFolder(OPENSHIFT_API), DNS_CRD), 'utf8')))
    for (const name of ['openshift-config', 'openshift-dns', 'openshift-image-registry']) {
      await api.create(namespace(name))
    }
    const registry = service('openshift-image-registry/image-registry', {
      clusterIP: '172.30.155.179',
    })
    await api.create(registry)
    await createOnce(api, {
      apiVersion: 'operator.openshift.io/v1',
      kind: 'DNS',
      metadata: { name: 'default' },
      spec: { nodePlacement: {} },
    })
    const operator = start(KUBEDOH, ['openshift', '--kubeconfig', api.adminConfig])
    running.push(operator)
    await operator.line(/^ready: ConfigMap openshift-dns\/dns-default has the Corefile$/)
    const metadata = { namespace: 'openshift-dns', name: 'dns-default' }
    const { data } = recordOf(await api.read({ apiVersion: 'v1', kind: 'ConfigMap', metadata }))
    const corefile = String(recordOf(data).Corefile)
    for (const line of [
      '.:5353 {',
      'kubernetes cluster.local in-addr.arpa ip6.arpa {',
      'pods insecure',
      'prometheus 127.0.0.1:9153',
      'forward . /etc/resolv.conf {',
      'policy sequential',
      'cache 900 {',
      'denial 9984 30',
      'reload',
    ]) {
      equal(corefile.includes(line), true, `${line}\n${corefile}`)
    }
    const { port } = await serve(`. {\n  ${block()}}\n`)
    const hosts = join(folder, 'hosts')
    writeFileSync(hosts, '127.0.0.1   localhost\n')
    const args = ['--services', REGISTRY, '--nameserver', `127.0.0.1:${port}`, '--once']
    const resolver = start(KUBEDOH, ['hosts', ...args, '--hosts-file', hosts])
    await becomes(
      () => Promise.resolve(readFileSync(hosts, 'utf8')),
      `127.0.0.1   localhost\n172.30.155.179 ${REGISTRY} ${REGISTRY}.cluster.local # ${MARKER}\n`,
    )
    await resolver.stop()
  })

  it('002_a30e8382d89e76e9: the names below endpoints of OpenShift 3.11', async () => {
    await api.create(namespace('dev'))
    await api.create(service('dev/jenkins', { clusterIP: '172.30.1.9' }))
    const ready = ['10.128.2.81', '10.131.1.70'].map((address) => ({ addresses: [address] }))
    await api.create(slice('dev/jenkins-1', 'jenkins', ready))
    const { ask } = await serve(`. {\n  ${block('    naming openshift3\n    ttl 30\n')}}\n`)
    const name = 'jenkins.dev.endpoints.cluster.local.'
    const [head, ...records] = await ask(`${name} A`)
    match(head ?? '', /^NOERROR AA/)
    deepEqual(records.sort(), [
      `answer ${name} 30 IN A 10.128.2.81`,
      `answer ${name} 30 IN A 10.131.1.70`,
    ])
    const [, cluster] = await ask('jenkins.dev.svc.cluster.local. A')
    equal(cluster, 'answer jenkins.dev.svc.cluster.local. 30 IN A 172.30.1.9')
  })

  it('003_6737add5c2a8e05d: some-api.company.com and nginx.company.com', async () => {
    await api.create(service('default/my-nginx', { clusterIP: 'None' }))
    const ready = ['10.244.0.104', '10.244.0.105'].map((address) => ({ addresses: [address] }))
    await api.create(slice('default/my-nginx-1', 'my-nginx', ready))
    writeFileSync(join(folder, 'company.db'), COMPANY_ZONE)
    const company = `  hosts {\n    123.59.59.33 some-api.company.com\n    fallthrough\n  }\n  file ${folder}/company.db company.com {\n    upstream\n  }\n`
    const { ask } = await serve(
      `. {\n  ${block('    upstream\n')}  errors\n  loadbalance\n${company}}\n`,
    )
    const [, outside] = await ask('some-api.company.com. A')
    equal(outside, 'answer some-api.company.com. 3600 IN A 123.59.59.33')
    const [head, ...records] = await ask('nginx.company.com. A')
    match(head ?? '', /^NOERROR/)
    const alias = records.find((line) => line.includes(' CNAME '))
    const addresses = records.filter((line) => line.includes(' A '))
    match(
      alias ?? '',
      /^answer nginx\.company\.com\. \d+ IN CNAME my-nginx\.default\.svc\.cluster\.local\.$/,
    )
    deepEqual(addresses.map((line) => line.split(' ').at(-1)).sort(), [
      '10.244.0.104',
      '10.244.0.105',
    ])
  })

  it('004_c0142e8d745ffb32: the host with paths of mini-k8s, through nginx', async () => {
    const services = await Promise.all([
      EchoService.start('default/service1', '127.1.1.10', 8010),
      EchoService.start('default/service2', '127.1.1.11', 8011),
    ])
    if (typeof binaries === 'string') return
    const mini = await ApiServer.start(binaries, { serviceAddresses: '127.1.0.0/16' })
    const etcd = await Etcd.start(binaries.etcd)
    try {
      for (const { object } of services) await mini.create(object)
      const objects = join(folder, 'dns-test1.json')
      const present = await Promise.all(services.map(({ object }) => mini.read(object)))
      writeFileSync(objects, JSON.stringify({ items: [MINI, ...present] }))
      await etcd.put('/dns/com/node2', '{"host":"192.168.1.13"}')
      const { ask } = await serve(
        `node1.com {\n  bind 127.0.0.1\n  k8s_gateway {\n    resources HostRoute\n    recordZones default node1.com\n    router 192.168.1.13\n  }\n}\nnode2.com {\n  bind 127.0.0.1\n  etcd {\n    path /dns\n    endpoint ${etcd.url}\n  }\n}\n`,
        '--objects',
        objects,
      )
      deepEqual((await ask('node1.com. A')).slice(1), ['answer node1.com. 60 IN A 192.168.1.13'])
      await becomes(
        async () => (await ask('node2.com. A')).slice(1).join(),
        'answer node2.com. 300 IN A 192.168.1.13',
      )
      const port = await freePort()
      const conf = join(folder, 'Corefile-router')
      writeFileSync(conf, `${MINI_ZONE}  }\n}\n`)
      const place = ['--http', `127.0.0.1:${port}`, '--folder', join(folder, 'nginx')]
      const router = start(KUBEDOH, [
        'router',
        'nginx',
        '--conf',
        conf,
        '--objects',
        objects,
        ...place,
      ])
      running.push(router)
      await router.line(/^ready: 1 hosts with 2 paths are routed$/)
      equal(
        await fetchFrom(port, 'node1.com', '/service1/test.html'),
        '200 service1 /test.html node1.com /service1',
      )
      equal(await fetchFrom(port, 'node1.com', '/service2'), '200 service2 / node1.com /service2')
      equal(await fetchFrom(port, 'node1.com', '/service3'), '404')
    } finally {
      for (const one of services) one.close()
      await etcd.stop()
      await mini.stop()
    }
  })

  it('004_c0142e8d745ffb32: "post dnsrecord", by the REST paths of the exporter', async () => {
    const keys = await createClusterKeys()
    const { publicKey, tokenSha256 } = keys
    const router = `${MINI_ZONE}    router 192.168.1.13\n  }\n}\n`
    const gateway = await startGateway({
      port: 0,
      variables: {
        REQUESTS_PER_MINUTE: '0',
        COREFILE: 'node1.com {\n  k8s_gateway {\n    cluster test\n  }\n}\n',
        CLUSTERS: JSON.stringify({ test: { publicKey, tokenSha256 } }),
        CLIENT_TOKEN_SHA256: tokenSha256,
      },
    })
    const conf = join(folder, 'Corefile-mini')
    writeFileSync(conf, `cluster.local {\n  kubernetes\n}\n${router}`)
    const objects = join(folder, 'mini')
    mkdirSync(objects)
    const echoes = await Promise.all([
      EchoService.start('default/service1', '127.1.1.10', 8010),
      EchoService.start('default/service2', '127.1.1.11', 8011),
    ])
    const items = echoes.map(({ object }) => object)
    writeFileSync(join(objects, 'services.json'), JSON.stringify({ items }))
    const ports = await Promise.all([freePort(), freePort()])
    const [rest, http] = ports
    const path = `http://127.0.0.1:${rest}/api/v1/namespaces/default/dnsrecords`
    const edge = { protocol: 'doh', url: gateway.url, token: keys.token } as const
    const host = async () => (await answerOf(edge, 'node1.com. A')).slice(1).join()
    const place = ['--objects', objects, '--conf', conf]
    const startExporter = async (): Promise<Running> => {
      const args = ['--gateway', gateway.url, '--cluster', 'test', '--listen', '', ...place]
      const exporter = start(KUBEDOH, ['export', ...args], {
        KUBEDOH_MINI_K8S: `127.0.0.1:${rest}`,
        KUBEDOH_TOKEN: keys.token,
        KUBEDOH_SIGNING_KEY: keys.signingKey,
      })
      running.push(exporter)
      await exporter.line(/^ready: published/)
      return exporter
    }
    const exporter = await startExporter()
    try {
      const headers = { 'content-type': 'application/json' }
      const post = { method: 'POST', headers, body: JSON.stringify(MINI) }
      equal((await fetch(path, post)).status, 200)
      await becomes(host, 'answer node1.com. 60 IN A 192.168.1.13')
      const own = ['--http', `127.0.0.1:${http}`, '--folder', join(folder, 'nginx-mini')]
      const nginx = start(KUBEDOH, ['router', 'nginx', ...place, ...own])
      running.push(nginx)
      await nginx.line(/^ready: 1 hosts with 2 paths are routed$/)
      const found = await fetchFrom(http, 'node1.com', '/service1/test.html')
      equal(found, '200 service1 /test.html node1.com /service1')
      await exporter.stop()
      await startExporter()
      equal(await host(), 'answer node1.com. 60 IN A 192.168.1.13')
      equal((await fetch(`${path}/dns-test1`, { method: 'DELETE' })).status, 200)
      await becomes(async () => (await host()).replace(/.* SOA .*/, 'none'), 'none')
    } finally {
      for (const one of echoes) one.close()
      await gateway.stop()
    }
  })
})
