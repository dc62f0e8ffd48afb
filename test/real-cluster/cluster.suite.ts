/**
 * End to end on a real cluster: a real API server, a real CoreDNS beside our server, our exporter
 * and the gateway in workerd. Run by `npm run test:cluster`.
 * @module
 */
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, it } from 'vitest'
import { type LocalGateway, startGateway } from '../../build/local-gateway.ts'
import { createClusterKeys } from '../../src/exporter/cluster-keys.ts'
import { describeUnless } from '../describe-unless.ts'
import { freePort } from '../free-port.ts'
import { ApiServer } from './api-server.ts'
import { answerOf, type QuestionText, type Server } from './asking.ts'
import { prepareBinaries } from './binaries.ts'
import { namespace, pod, RIGHTS, rareObjects, service, shopObjects, slice } from './objects.ts'
import { type Running, start } from './processes.ts'
import { questionsAbout } from './questions.ts'

const KUBEDOH = join(import.meta.dirname, '../../bin/kubedoh')
const START = join(import.meta.dirname, '../../demo/start.ts')
const ZONE = 'cluster.local.'
const SETTLE_MS = 30_000
const SAMPLES = 15

const binaries = prepareBinaries()
const skip = typeof binaries === 'string' ? binaries : false

describeUnless(skip, 'a real cluster', () => {
  const objects = [...shopObjects(), ...rareObjects()]
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-suite-'))
  const running: Running[] = []
  const servers: Record<'coredns' | 'udp' | 'tcp' | 'gateway', Server> = {
    coredns: { protocol: 'udp', port: 0 },
    udp: { protocol: 'udp', port: 0 },
    tcp: { protocol: 'tcp', port: 0 },
    gateway: { protocol: 'doh', url: '', token: '' },
  }
  let api: ApiServer
  let gateway: LocalGateway

  beforeAll(async () => {
    if (typeof binaries === 'string') return
    api = await ApiServer.start(binaries)
    for (const object of [...RIGHTS, ...objects]) await api.create(object)
    for (const [path, podIP] of [
      ['shop/web-1', '10.244.9.1'],
      ['rare/done', '10.244.9.2'],
    ] as const) {
      await api.create(pod(path))
      await api.setStatus(pod(path), {
        phase: podIP === '10.244.9.2' ? 'Succeeded' : 'Running',
        podIP,
      })
    }
    const [dns, port] = [await freePort(), await freePort()]
    const corefile = join(folder, 'Corefile')
    writeFileSync(corefile, formatCorefile(api.exporterConfig))
    const coredns = start(binaries.coredns, ['-conf', corefile, '-dns.port', String(dns)])
    running.push(coredns)
    const serve = start(KUBEDOH, ['serve', '--conf', corefile, '--dns.port', String(port)])
    running.push(serve)
    const keys = await createClusterKeys()
    gateway = await startGateway({ port: 0, variables: gatewayVariables(keys) })
    const exporter = start(
      KUBEDOH,
      ['export', '--gateway', gateway.url, '--cluster', 'test', '--conf', corefile, '--listen', ''],
      { KUBEDOH_TOKEN: keys.token, KUBEDOH_SIGNING_KEY: keys.signingKey },
    )
    running.push(exporter)
    await Promise.all([coredns.line(/CoreDNS-/), serve.line(/^ready/), exporter.line(/^ready/)])
    servers.coredns = { protocol: 'udp', port: dns }
    servers.udp = { protocol: 'udp', port }
    servers.tcp = { protocol: 'tcp', port }
    servers.gateway = { protocol: 'doh', url: gateway.url, token: keys.token }
  })

  afterAll(async () => {
    const stopped = await Promise.all(running.toReversed().map((one) => one.stop()))
    await gateway?.stop()
    await api?.stop()
    rmSync(folder, { recursive: true, force: true })
    deepEqual(stopped.slice(0, 2), [0, 0], 'export and serve end with status 0 on SIGTERM')
  })

  it('answers as CoreDNS does over UDP, over TCP and at the gateway', async () => {
    await settled(servers, 'web.shop.svc.cluster.local. A', /10\.96\.12\.34/)
    const questions = questionsAbout(objects, ZONE)
    let compared = 0
    for (const question of questions) {
      const expected = await answerOf(servers.coredns, question)
      deepEqual(await answerOf(servers.udp, question), expected, `${question} over UDP`)
      deepEqual(await answerOf(servers.tcp, question), expected, `${question} over TCP`)
      deepEqual(await answerOf(servers.gateway, question), expected, `${question} at the gateway`)
      compared += 3
    }
    process.stdout.write(`${compared} answers compared with CoreDNS's\n`)
  })

  it('answers for a new Service', async () => {
    await api.create(namespace('later'))
    const times = await measure('Service added', servers, async (i) => {
      const clusterIP = `10.100.0.${i + 1}`
      await api.create(service(`later/added-${i}`, { clusterIP }))
      return [`added-${i}.later.svc.${ZONE} A`, new RegExp(clusterIP.replaceAll('.', '\\.'))]
    })
    equal(times.length, 3)
  })

  it('drops a removed endpoint', async () => {
    const name = 'later/gone'
    const all = Array.from({ length: SAMPLES + 1 }, (_, i) => ({
      addresses: [`10.244.20.${i + 1}`],
    }))
    await api.create(service(name, { clusterIP: 'None' }))
    await api.create(slice(`${name}-1`, 'gone', all))
    const question: QuestionText = `gone.later.svc.${ZONE} A`
    await settled(servers, question, /10\.244\.20\.1\b/)
    await measure('Endpoint gone', servers, async (i) => {
      await api.patch(slice(`${name}-1`, 'gone', []), { endpoints: all.slice(i + 1) })
      return [question, (text) => !new RegExp(`10\\.244\\.20\\.${i + 1}(?!\\d)`).test(text)]
    })
  })

  it('drops a deleted Namespace', async () => {
    for (let i = 0; i < SAMPLES; i++) {
      await api.create(namespace(`doomed-${i}`))
      await api.create(service(`doomed-${i}/web`))
    }
    await settled(servers, `web.doomed-${SAMPLES - 1}.svc.${ZONE} A`, /answer/)
    await measure('Namespace deleted', servers, async (i) => {
      await api.delete(namespace(`doomed-${i}`))
      return [`web.doomed-${i}.svc.${ZONE} A`, /^NXDOMAIN/]
    })
  })

  it('keeps answering while the API server is unavailable, and catches up afterwards', async () => {
    const question: QuestionText = `web.shop.svc.${ZONE} A`
    await api.pause()
    for (const server of [servers.udp, servers.tcp, servers.gateway]) {
      match((await answerOf(server, question)).join('\n'), /10\.96\.12\.34/)
    }
    await api.resume()
    await api.create(service('later/after-restart', { clusterIP: '10.100.1.1' }))
    await settled(servers, `after-restart.later.svc.${ZONE} A`, /10\.100\.1\.1/)
  })

  it('starts everything for this cluster by npm start -- --kubeconfig', async () => {
    const [port, dns] = [await freePort(), await freePort()]
    const cluster = ['--kubeconfig', api.exporterConfig]
    const ports = ['--port', `${port}`, '--dns.port', `${dns}`]
    const demo = start(process.execPath, [START, ...cluster, ...ports])
    try {
      await demo.line(/ready in /)
      const url = `http://127.0.0.1:${port}`
      const everywhere: readonly Server[] = [
        { protocol: 'udp', port: dns },
        { protocol: 'doh', url, token: 'demo' },
      ]
      for (const server of everywhere) {
        const text = (await answerOf(server, 'kubernetes.default.svc.demo.test. A')).join('\n')
        match(text, /10\.96\.0\.1\b/)
      }
    } finally {
      equal(await demo.stop(), 0)
    }
  })

  it('reports a bad Corefile or kubeconfig in one line', async () => {
    const cases: readonly (readonly [string, RegExp])[] = [
      [
        formatCorefile('/nonexistent/kubeconfig'),
        /^.*Corefile:\d+:\d+: Cannot read kubeconfig .*$/,
      ],
      ['. {\n  nonsense\n}\n', /^.*Corefile:2:3: .*nonsense.*$/],
    ]
    for (const [text, expected] of cases) {
      const file = join(folder, 'wrong.Corefile')
      writeFileSync(file, text)
      const child = start(KUBEDOH, ['serve', '--conf', file, '--dns.port', '0'])
      const status = await new Promise((resolve) => child.child.once('close', resolve))
      equal(status, 1)
      match(child.tail(), expected)
    }
  })
})

function formatCorefile(kubeconfig: string): string {
  return `. {
    bind 127.0.0.1
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        kubeconfig ${kubeconfig}
        pods verified
        ttl 30
    }
}
`
}

function gatewayVariables(keys: {
  tokenSha256: string
  publicKey: string
}): Readonly<Record<string, string>> {
  return {
    REQUESTS_PER_MINUTE: '0',
    COREFILE: `. {
    kubernetes cluster.local in-addr.arpa ip6.arpa {
        cluster test
    }
}
`,
    CLUSTERS: JSON.stringify({
      test: { publicKey: keys.publicKey, tokenSha256: keys.tokenSha256 },
    }),
    CLIENT_TOKEN_SHA256: keys.tokenSha256,
  }
}

type Condition = RegExp | ((text: string) => boolean)

/** Waits until a server returns the expected response. @returns the time in milliseconds */
async function until(server: Server, question: QuestionText, wanted: Condition): Promise<number> {
  const startMs = performance.now()
  for (;;) {
    const text = (await answerOf(server, question)).join('\n')
    const tookMs = performance.now() - startMs
    if (typeof wanted === 'function' ? wanted(text) : wanted.test(text)) return tookMs
    if (tookMs > SETTLE_MS) throw new Error(`${question} stays\n${text}`)
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
}

async function settled(
  servers: Readonly<Record<string, Server>>,
  question: QuestionText,
  wanted: Condition,
): Promise<void> {
  await Promise.all(Object.values(servers).map((server) => until(server, question, wanted)))
}

/** Repeats a change, and prints the median time until each server returns it. */
async function measure(
  title: string,
  servers: Readonly<Record<string, Server>>,
  change: (i: number) => Promise<readonly [QuestionText, Condition]>,
): Promise<readonly (readonly [string, number])[]> {
  const watched = Object.entries(servers).filter(([name]) => name !== 'tcp')
  const times = new Map(watched.map(([name]) => [name, [] as number[]]))
  for (let i = 0; i < SAMPLES; i++) {
    const [question, wanted] = await change(i)
    await Promise.all(
      watched.map(async ([name, server]) => {
        times.get(name)?.push(await until(server, question, wanted))
      }),
    )
  }
  const medians = [...times].map(([name, list]) => [name, median(list)] as const)
  const columns = medians.map(
    ([name, ms]) => `${name === 'udp' ? 'serve' : name} ${ms.toFixed(0)} ms`,
  )
  process.stdout.write(`${title}: ${columns.join(', ')} (median of ${SAMPLES})\n`)
  return medians
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN
}
