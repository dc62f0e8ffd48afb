/**
 * Queries about seeded objects of a real API server, answered as the real k8s_gateway answers them
 * but for listed deviations. Run by `npx vitest run -c test/suites.config.ts --project beside`;
 * KUBEDOH_BESIDE has the path of a CoreDNS with that plugin, built from commit bd2cc78 of
 * github.com/k8s-gateway/k8s_gateway. Go's module proxy does not have the module, so no suite
 * builds it, and `recorded.test.ts` compares with recorded replies.
 * @module
 */
import { deepEqual, ok } from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { afterAll, beforeAll, it } from 'vitest'
import { randomFrom } from '../../bench/cluster-objects.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { type ApiObject, ApiServer } from '../real-cluster/api-server.ts'
import { answerOf, type Server } from '../real-cluster/asking.ts'
import { prepareBinaries } from '../real-cluster/binaries.ts'
import { namespace } from '../real-cluster/objects.ts'
import { type Running, start } from '../real-cluster/processes.ts'
import { compare, describeTally, RESOURCES } from './comparison.ts'
import {
  drawObjects,
  drawQuestions,
  QUERIES,
  SEED,
  type WithStatus,
  ZONES,
} from './host-objects.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const ORIGINAL = process.env.KUBEDOH_BESIDE ?? ''
/** The file for the project's replies, which recorded.test.ts reads; '' for none. */
const RECORD = process.env.KUBEDOH_BESIDE_RECORD ?? ''
const PATIENCE_MS = 60_000
const DEFINITIONS = [
  // The project reads routes only if the cluster has this kind.
  ['gateway.networking.k8s.io', 'v1', 'GatewayClass', 'gatewayclasses'],
  ['gateway.networking.k8s.io', 'v1', 'Gateway', 'gateways'],
  ['gateway.networking.k8s.io', 'v1', 'HTTPRoute', 'httproutes'],
  ['gateway.networking.k8s.io', 'v1', 'GRPCRoute', 'grpcroutes'],
  ['gateway.networking.k8s.io', 'v1', 'TLSRoute', 'tlsroutes'],
  ['externaldns.k8s.io', 'v1alpha1', 'DNSEndpoint', 'dnsendpoints'],
] as const

function findMissing(): string | undefined {
  const binaries = prepareBinaries()
  if (typeof binaries === 'string') return binaries
  return existsSync(ORIGINAL)
    ? undefined
    : 'KUBEDOH_BESIDE has no path of a CoreDNS with k8s_gateway'
}

function definition([group, version, kind, plural]: (typeof DEFINITIONS)[number]): ApiObject {
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  const approval = {
    'api-approved.kubernetes.io': 'https://github.com/kubernetes-sigs/gateway-api',
  }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, annotations: approval },
    spec: {
      group,
      scope: 'Namespaced',
      names: { kind, plural, singular: kind.toLowerCase(), listKind: `${kind}List` },
      versions: [{ name: version, served: true, storage: true, schema }],
    },
  } as ApiObject
}

describeUnless(findMissing(), `k8s_gateway, seed ${SEED}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-k8s-gateway-'))
  const running: Running[] = []
  const random = randomFrom(SEED)
  const drawn = drawObjects(random)
  let api: ApiServer | undefined
  let ours: Server
  let theirs: Server

  beforeAll(async () => {
    const binaries = prepareBinaries()
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    for (const crd of DEFINITIONS) await api.create(definition(crd))
    for (const name of ['shop', 'blog']) await api.create(namespace(name))
    for (const one of drawn.objects) await createWhole(api, one)
    const conf = join(folder, 'Corefile')
    const options = `resources ${RESOURCES}\n  ttl 30\n  kubeconfig ${api.adminConfig}`
    writeFileSync(
      conf,
      `. {\n bind 127.0.0.1\n k8s_gateway ${ZONES.join(' ')} {\n  ${options}\n }\n}\n`,
    )
    const ports = [await freePort(), await freePort()] as const
    const original = start(ORIGINAL, ['-conf', conf, `-dns.port=${ports[0]}`], {}, folder)
    const kubedoh = start(KUBEDOH, ['serve', '--conf', conf, '--dns.port', String(ports[1])])
    running.push(original, kubedoh)
    await original.line(/CoreDNS-/)
    await kubedoh.line(/^ready/)
    theirs = { protocol: 'udp', port: ports[0] }
    ours = { protocol: 'udp', port: ports[1] }
    await untilReady(theirs)
  })

  afterAll(async () => {
    for (const one of running.toReversed()) await one.stop()
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it(`answers ${QUERIES} queries as the project does, but for listed deviations`, async () => {
    const replies = new Map<string, string>()
    const tally = await compare(drawQuestions(random, drawn.hosts, QUERIES), {
      hosts: drawn.hosts,
      ours: (question) => answerOf(ours, question),
      theirs: async (question) => {
        const reply = await answerOf(theirs, question)
        replies.set(question, reply.join(' | '))
        return reply
      },
    })
    process.stdout.write(describeTally(tally))
    deepEqual(tally.wrong, [])
    ok(tally.answered > QUERIES / 6)
    if (RECORD !== '') writeFileSync(RECORD, brotliCompressSync(JSON.stringify([...replies])))
  })
})

async function createWhole(api: ApiServer, { object, status }: WithStatus): Promise<void> {
  const startMs = performance.now()
  for (;;) {
    try {
      await api.create(object)
      if (status !== undefined) await api.setStatus(object, status)
      return
    } catch (error) {
      // A new CRD is served after a moment.
      if (performance.now() - startMs > PATIENCE_MS) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

async function untilReady(server: Server): Promise<void> {
  const startMs = performance.now()
  for (;;) {
    const [head = ''] = await answerOf(server, 'gw.test. SOA')
    if (head.startsWith('NOERROR') || performance.now() - startMs > PATIENCE_MS) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}
