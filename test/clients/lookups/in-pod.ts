/**
 * Runs in a network and mount namespace of its own with a pod's resolv.conf: an API server, CoreDNS
 * and kubedoh serve in turn, and every client for every name. Prints a line of JSON for each
 * look-up.
 * @module
 */
import { execFile, spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { promisify } from 'node:util'
import { ApiServer } from '../../real-cluster/api-server.ts'
import type { Binaries } from '../../real-cluster/binaries.ts'
import { namespace, pod, RIGHTS, service, slice } from '../../real-cluster/objects.ts'
import { type Running, start } from '../../real-cluster/processes.ts'

/** What the suite passes as the only argument, as JSON. */
export type Setup = {
  readonly binaries: Binaries
  readonly kubedoh: string
  /** Commands by client; `NAME` stands for the name. */
  readonly clients: Readonly<Record<string, readonly [string, ...string[]]>>
  readonly names: readonly string[]
  /** The address of the DNS server, and of the client. */
  readonly address: string
}

/** One look-up. */
export type Lookup = {
  readonly server: string
  readonly hasAutopath: boolean
  readonly client: string
  readonly name: string
  readonly addresses: readonly string[]
  readonly packets: number
  readonly error: string
}

const run = promisify(execFile)
const SETTLE_MS = 30_000

async function main(setup: Setup): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'kubedoh-lookups-'))
  const running: Running[] = []
  const api = await ApiServer.start(setup.binaries)
  try {
    await createObjects(api, setup.address)
    const upstream = join(folder, 'upstream')
    writeFileSync(upstream, upstreamCorefile(folder))
    const external = start(setup.kubedoh, ['serve', '--conf', upstream])
    running.push(external)
    await external.line(/^ready/)
    const packets = countPackets()
    for (const hasAutopath of [false, true]) {
      const path = join(folder, 'Corefile')
      writeFileSync(path, clusterCorefile(api, setup, hasAutopath))
      for (const server of ['kubedoh', 'CoreDNS']) {
        const command = server === 'kubedoh' ? setup.kubedoh : setup.binaries.coredns
        const serving = start(command, [...(server === 'kubedoh' ? ['serve'] : []), '-conf', path])
        running.push(serving)
        await serving.line(server === 'kubedoh' ? /^ready/ : /CoreDNS-/)
        await settle(setup)
        for (const [client, words] of Object.entries(setup.clients)) {
          for (const name of setup.names) {
            await packets.next()
            const found = await lookUp(words, name)
            const lookup: Lookup = {
              ...{ server, hasAutopath, client, name },
              ...{ ...found, packets: await packets.next() },
            }
            process.stdout.write(`${JSON.stringify(lookup)}\n`)
          }
        }
        await serving.stop()
      }
    }
    packets.stop()
  } finally {
    await Promise.all(running.map((one) => one.stop()))
    await api.stop()
    rmSync(folder, { recursive: true, force: true })
  }
}

async function createObjects(api: ApiServer, address: string): Promise<void> {
  for (const object of [...RIGHTS, namespace('shop')]) await api.create(object)
  await api.create(service('shop/web', { clusterIP: '10.96.12.34' }))
  for (const count of [1, 100, 1000]) {
    const name = `set${count}`
    const endpoints = Array.from({ length: count }, (_, i) => ({
      addresses: [`10.244.${i >> 8}.${i & 255}`],
    }))
    await api.create(service(`shop/${name}`, { clusterIP: 'None' }))
    await api.create(slice(`shop/${name}-1`, name, endpoints))
  }
  // autopath needs the Pod at the client's address.
  await api.create(pod('shop/client'))
  await api.setStatus(pod('shop/client'), { phase: 'Running', podIP: address })
}

function upstreamCorefile(folder: string): string {
  const zone = join(folder, 'example.com.zone')
  const soa = '@ 60 IN SOA ns admin 1 60 60 60 60\n@ 60 IN NS ns\nns 60 IN A 127.0.0.1\n'
  writeFileSync(zone, `$ORIGIN example.com.\n${soa}www 60 IN A 192.0.2.80\n`)
  return `example.com:5301 {\n bind 127.0.0.1\n file ${zone}\n}\n`
}

function clusterCorefile(api: ApiServer, { address }: Setup, hasAutopath: boolean): string {
  const lines = [
    `bind ${address}`,
    'errors',
    ...(hasAutopath ? ['autopath @kubernetes'] : []),
    `kubernetes cluster.local in-addr.arpa ip6.arpa {\n kubeconfig ${api.exporterConfig}\n pods verified\n fallthrough in-addr.arpa ip6.arpa\n }`,
    'forward . 127.0.0.1:5301',
    'cache 30',
  ]
  return `.:53 {\n ${lines.join('\n ')}\n}\n`
}

/** Waits until the server has the last Service. */
async function settle({ address }: Setup): Promise<void> {
  const deadline = Date.now() + SETTLE_MS
  const query = [`@${address}`, '+short', '+tcp', 'set1000.shop.svc.cluster.local']
  for (;;) {
    const { stdout } = await run('dig', query).catch(() => ({ stdout: '' }))
    if (stdout.trim().split('\n').length === 1000) return
    if (Date.now() > deadline) throw new Error('the server does not read the cluster')
  }
}

async function lookUp(
  words: readonly [string, ...string[]],
  name: string,
): Promise<Pick<Lookup, 'addresses' | 'error'>> {
  const [program, ...args] = words
  try {
    const given = args.map((word) => (word === 'NAME' ? name : word))
    const { stdout } = await run(program, given, { timeout: 30_000 })
    return { addresses: stdout.split('\n').filter((line) => line !== ''), error: '' }
  } catch (error) {
    return { addresses: [], error: String(error) }
  }
}

/** Counts packets in the background; `next` returns how many there were since the last call. */
function countPackets(): { readonly next: () => Promise<number>; readonly stop: () => void } {
  const child = spawn('python3', [join(import.meta.dirname, 'count-packets.py')])
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const first = lines.next()
  return {
    next: async () => {
      await first
      child.stdin.write('\n')
      return Number((await lines.next()).value)
    },
    stop: () => child.kill(),
  }
}

if (import.meta.main) await main(JSON.parse(process.argv[2] ?? ''))
